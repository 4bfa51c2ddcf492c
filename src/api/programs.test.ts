// What one side says the other side hears, whatever stands around it, and whatever a kubelet cuts off.

import { deepEqual, equal, ok } from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  downloadArguments,
  exitCode,
  heardLastWord,
  heardProgress,
  type LastWord,
  type Progress,
  sayLastWord,
  sayProgress,
  verdicts,
} from './programs.ts';

const text = fc.string({ unit: 'binary', maxLength: 5_000 });
const shortText = fc.string({ unit: 'grapheme', maxLength: 200 });

const plain = { noNullPrototype: true } as const;

const wordWith = (message: fc.Arbitrary<string>): fc.Arbitrary<LastWord> =>
  fc.oneof(
    fc.record(
      {
        result: fc.constant('done' as const),
        digest: fc.string({ maxLength: 80 }),
        bytes: fc.nat(),
        mountable: fc.boolean(),
      },
      { ...plain, requiredKeys: ['result', 'digest', 'bytes'] },
    ),
    fc.record({ result: fc.constant('verdict' as const), verdict: fc.constantFrom(...verdicts), message }, plain),
    fc.record({ result: fc.constant('fault' as const), message }, plain),
  );

/** Lines that no program of ours writes as its last word: logs, stack traces, other JSON. */
const noise = fc.array(
  fc.oneof(
    fc.string({ maxLength: 60 }).map((line) => line.replaceAll(/[{\n]/g, ' ')),
    fc.json().filter((line) => !/result|progress/.test(line)),
    fc.constantFrom(
      '{',
      '{"result":"done"}',
      '{"result":"verdict","verdict":"Unheard","message":"x"}',
      '{"progress":null}',
    ),
  ),
  { maxLength: 5 },
);

const among = (before: string[], line: string, after: string[]): string => [...before, line, ...after].join('\n');

describe('the last word', () => {
  test('is heard as it was said, among whatever else was written', () => {
    fc.assert(
      fc.property(wordWith(shortText), noise, noise, (word, before, after) => {
        deepEqual(heardLastWord(among(before, sayLastWord(word), after)), word);
      }),
      { numRuns: 1_000 },
    );
  });

  test('fits into what a kubelet keeps, and is still heard, however much there was to say', () => {
    fc.assert(
      fc.property(wordWith(text), (word) => {
        const said = sayLastWord(word);
        ok(Buffer.byteLength(said) <= 4_096, `${Buffer.byteLength(said)} bytes`);
        equal(heardLastWord(said)?.result, word.result);
      }),
      { numRuns: 500 },
    );
    const long: LastWord = { result: 'fault', message: '語'.repeat(5_000) };
    ok(Buffer.byteLength(sayLastWord(long)) <= 4_096);
    ok(Buffer.byteLength(sayLastWord({ result: 'fault', message: '\u0000'.repeat(5_000) })) <= 4_096);
  });

  test('is the last one of several', () => {
    const [first, last] = [
      { result: 'fault', message: 'a' },
      { result: 'done', digest: 'sha256:0', bytes: 1 },
    ] as const;
    deepEqual(heardLastWord(among([sayLastWord(first)], sayLastWord(last), [])), last);
  });

  test('is nothing where there was none', () => {
    fc.assert(fc.property(noise, (lines) => equal(heardLastWord(lines.join('\n')), undefined)));
    equal(heardLastWord(undefined), undefined);
  });
});

const progress: fc.Arbitrary<Progress> = fc
  .tuple(fc.nat(), fc.option(fc.nat(), { nil: undefined }))
  .map(([bytes, more]) => ({ bytes, ...(more !== undefined && { total: bytes + more }) }));

describe('progress', () => {
  test('is heard as it was said, the newest of several', () => {
    fc.assert(
      fc.property(progress, progress, noise, noise, (older, newer, before, after) => {
        const log = among([...before, sayProgress(older)], sayProgress(newer), after);
        deepEqual(heardProgress(log), newer);
      }),
      { numRuns: 1_000 },
    );
  });

  test('that cannot be is not believed', () => {
    for (const line of [
      '{"progress":{"bytes":-1}}',
      '{"progress":{"bytes":1.5}}',
      '{"progress":{"bytes":"9"}}',
      '{"progress":7}',
    ])
      equal(heardProgress(line), undefined);
    deepEqual(heardProgress('{"progress":{"bytes":9,"total":5}}'), { bytes: 9 });
  });
});

describe('the order to download', () => {
  test('keeps what a person wrote behind the mark that ends options', () => {
    fc.assert(
      fc.property(fc.string(), fc.option(fc.string(), { nil: undefined }), (url, digest) => {
        const args = downloadArguments({
          url,
          target: '/weights',
          framework: 'onnx',
          ...(digest !== undefined && { digest }),
        });
        equal(args.indexOf('--'), args.length - 2);
        equal(args.at(-1), url);
      }),
    );
  });

  test('has an exit code for each way to end', () => {
    equal(new Set(Object.values(exitCode)).size, Object.keys(exitCode).length);
  });
});
