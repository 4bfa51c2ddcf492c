// What zod keeps inside a schema, in the one place that knows where. Zod documents these members for libraries that
// build on it; everything else here asks through these functions.

import type { z } from 'zod';

/** What a check says of itself; a schema such as `z.int()` or `z.url()` is its own first check. */
export interface CheckDef {
  check: string;
  format?: string;
  pattern?: RegExp;
  value?: unknown;
}

/** The definition of a schema, by whose `type` its kind is told. */
export const defOf = <Def extends z.core.$ZodTypeDef>({ _zod: inside }: { _zod: { def: Def } }): Def => inside.def;

/** Whether a field may be left out, because it is optional or has a default. */
export const mayBeAbsent = ({ _zod: inside }: z.core.$ZodType): boolean => inside.optin !== undefined;

/** The constants of an enum or a literal. */
export const constantsOf = ({ _zod: inside }: z.core.$ZodEnum | z.core.$ZodLiteral): unknown[] => [...inside.values];

/** All checks of a schema, the one that it is included. */
export const checksOf = (schema: z.core.$ZodType): CheckDef[] => [
  ...('check' in defOf(schema) ? [defOf(schema) as unknown as CheckDef] : []),
  ...(defOf(schema).checks ?? []).map(({ _zod: inside }) => inside.def as CheckDef),
];
