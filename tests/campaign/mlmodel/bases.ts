// Documents from which walks begin: one of each way in which weights come and are served.

import type { Document } from '../meaning.ts';
import { furniture } from '../words.ts';

/** A download that takes a moment. */
export const quick = { 'sim.baton.dev/container': 'download', 'sim.baton.dev/run-for': '200ms' };

const onnx = {
  modelURL: 'https://models.example/one.onnx',
  storageSize: '1Gi',
  framework: 'onnx',
  rollout: { history: 0, progressDeadlineSeconds: 60 },
  podAnnotations: quick,
};

export const bases: Document[] = [
  { spec: onnx },
  { spec: { ...onnx, framework: 'tensorflow', replicas: 2, expose: true, accessMode: 'ReadWriteMany' } },
  { spec: { ...onnx, framework: 'custom', server: { image: 'own:1', port: 9000 }, env: [{ name: 'A', value: '1' }] } },
  {
    spec: {
      ...onnx,
      modelURL: `pvc://${furniture.claim}/folder`,
      storageSize: undefined,
      rollout: { history: 0, strategy: 'replace', progressDeadlineSeconds: 60 },
    },
  },
];
