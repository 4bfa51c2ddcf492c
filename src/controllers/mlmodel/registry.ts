// What the facts of a model are asked of, beside the API server.

import type { Looked, RegistryClients } from '../../serving/index.ts';

export type { Looked };
export type MLModelClients = RegistryClients;
