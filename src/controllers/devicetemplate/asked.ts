// What a DeviceTemplate asks for, whichever spelling it uses, and what holds where it says nothing: the images of its seed.

import type { DeviceTemplate } from '../../api/index.ts';

type Spec = DeviceTemplate['spec'];
type Driver = NonNullable<Spec['driver']>;

export interface Asked {
  consumer: string;
  plugin: string;
  secret: string | undefined;
  moduleName: string;
  kernels: NonNullable<Driver['kernels']>;
  parameters: string[];
  tolerations: NonNullable<Spec['tolerations']>;
  version: string | undefined;
}

const images = {
  consumer: 'quay.io/chrisp262/pt-device-plugin:consumer-latest',
  plugin: 'quay.io/chrisp262/pt-device-plugin:latest',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: KMM puts the kernel of each node there
  driver: 'quay.io/chrisp262/pt-char-dev:${KERNEL_FULL_VERSION}-sb',
};

/** The spec with one spelling of each field: two that ask for the same are the same. */
export function spelled(spec: Spec): Spec {
  const { consumerimage, deviceplugin, imageRepoSecret, ...rest } = spec;
  const consumer = spec.consumer ?? consumerimage;
  const plugin = spec.plugin ?? deviceplugin;
  const imagePullSecret = spec.imagePullSecret ?? imageRepoSecret;
  return {
    ...rest,
    ...(consumer !== undefined && { consumer }),
    ...(plugin !== undefined && { plugin }),
    ...(imagePullSecret && { imagePullSecret }),
  };
}

/** Everything that is asked for. */
export function askedOf({ spec }: DeviceTemplate): Asked {
  const { consumer = images.consumer, plugin = images.plugin, imagePullSecret } = spelled(spec);
  const { maxdev, defaultmsg, driver = {} } = spec;
  const message = defaultmsg === undefined ? [] : [`default_msg=${defaultmsg}`];
  return {
    consumer,
    plugin,
    secret: imagePullSecret?.name,
    moduleName: driver.moduleName ?? 'ptemplate_char_dev',
    kernels: driver.kernels ?? [{ kernel: '*', image: images.driver }],
    parameters: [`max_dev=${maxdev}`, ...message, ...(driver.parameters ?? [])],
    tolerations: spec.tolerations ?? [],
    version: driver.version,
  };
}
