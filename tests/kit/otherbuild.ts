// The operator of another build: the same program, but for the builders of the servers' and the consumers' pods, whose source is
// changed as it is loaded. Its framework table and its own image differ by its options.

import { registerHooks } from 'node:module';

const builders = ['/src/serving/server.ts', '/src/controllers/devicetemplate/consumer.ts'];
const change = ['terminationGracePeriodSeconds: 30', 'terminationGracePeriodSeconds: 77'] as const;

/** Throws where a builder does not say any more what is changed, so that this never tests nothing. */
function rewritten(source: string): string {
  const [from, to] = change;
  if (!source.includes(from)) throw new Error(`a builder does not say ${from} any more`);
  return source.replace(from, to);
}

const textOf = (source: string | ArrayBuffer | NodeJS.TypedArray | undefined): string =>
  typeof source === 'string' ? source : new TextDecoder().decode(source);

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!builders.some((builder) => url.endsWith(builder))) return loaded;
    return { ...loaded, source: rewritten(textOf(loaded.source)) };
  },
});

await import('./main.ts');
