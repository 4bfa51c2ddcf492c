// What the operator is set to where nobody says anything, for programs that are the operator but for a few settings.

import { readSettings, type Settings } from '../../src/operator/index.ts';

function read(): Settings {
  const asked = readSettings({ args: [], env: {}, read: () => '' });
  if ('run' in asked) return asked.run;
  throw new Error(`the operator does not start without settings: ${JSON.stringify(asked)}`);
}

export const defaultSettings: Settings = read();
