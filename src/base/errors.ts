// Whatever was thrown, as an Error and in words: JavaScript lets people throw anything.

/** The thing itself if it is an Error, else one that says it. */
export const asError = (thrown: unknown): Error => (thrown instanceof Error ? thrown : new Error(textOf(thrown)));

/** What was thrown, in words for a person. */
export const wordsOf = (thrown: unknown): string => asError(thrown).message;

const textOf = (thrown: unknown): string =>
  typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? 'undefined');
