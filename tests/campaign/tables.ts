// The kinds that take part in campaigns.

import { anyKind, type Meanings } from './meaning.ts';
import { mlmodel } from './mlmodel/index.ts';
import { modeldeployment } from './modeldeployment/index.ts';

export const tables: readonly Meanings[] = [anyKind(mlmodel), anyKind(modeldeployment)];
