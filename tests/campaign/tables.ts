// The kinds that take part in campaigns.

import { devicetemplate } from './devicetemplate/index.ts';
import { anyKind, type Meanings } from './meaning.ts';
import { mlmodel } from './mlmodel/index.ts';
import { modeldeployment } from './modeldeployment/index.ts';

export const tables: readonly Meanings[] = [anyKind(mlmodel), anyKind(modeldeployment), anyKind(devicetemplate)];
