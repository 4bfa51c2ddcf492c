// Our side of the registry bench as a program of its own: one image from a layout into a registry, or back.

import { systemClock } from '../../src/base/index.ts';
import { Layout, pull, push, referenceOf, Registry } from '../../src/oci/index.ts';

const [way, folder = '', name = ''] = process.argv.slice(2);
const to = referenceOf(name);
await using registry = new Registry({ clock: systemClock, random: Math.random, plainHttp: [to.host] });
if (way === 'push') {
  const layout = await Layout.open(folder);
  await push(registry, layout, { image: await layout.image(), to });
} else await pull(registry, to, await Layout.make(folder));
