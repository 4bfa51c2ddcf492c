// Blobs against a peer that does what the test says: cuts, ranges, damage, and readers who leave.

import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, test } from 'node:test';
import { all, sent, talk } from '../../tests/kit/registry-talk.ts';
import { answer, type Reply } from '../../tests/kit/scripted-peer.ts';
import { blobBytes, blobWhole } from './blobs.ts';
import { digestOf } from './digest.ts';

describe('a blob', () => {
  const content = { digest: digestOf('abcdef'), size: 6 };
  const cutAfter =
    (text: string): Reply =>
    (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n${text}`, () => setTimeout(() => socket.destroy(), 5));
  const ranged: Reply = (socket, heard) => {
    const from = Number(/^bytes=(\d+)-$/.exec(sent(heard, 'range') ?? '')?.[1] ?? 0);
    answer(206, 'abcdef'.slice(from), { 'content-range': `bytes ${from}-5/6` })(socket, heard);
  };

  test('goes on after a cut from where it was', async () => {
    await using it = await talk([[cutAfter('ab'), cutAfter(''), ranged]]);
    equal(await all(blobBytes(it.registry, it.name(), content)), 'abcdef');
    deepEqual(
      it.peers[0]?.heard.map((heard) => sent(heard, 'range')),
      [undefined, 'bytes=2-', 'bytes=2-'],
    );
  });

  test('is read again from the start by whoever knows no ranges, and the known part is left out', async () => {
    await using it = await talk([[cutAfter('abc'), answer(200, 'abcdef')]]);
    equal(await all(blobBytes(it.registry, it.name(), content)), 'abcdef');
  });

  test('another range than the one asked for is refused', async () => {
    await using it = await talk([[cutAfter('ab'), answer(206, 'def', { 'content-range': 'bytes 3-5/6' })]]);
    await rejects(all(blobBytes(it.registry, it.name(), content)), { reason: 'Protocol' });
  });

  test('that is shorter than it should be is told apart from a cut', async () => {
    await using it = await talk([[answer(200, 'abc'), answer(416, '')]]);
    await rejects(all(blobBytes(it.registry, it.name(), content)), {
      reason: 'Digest',
      message: /no more than 3 bytes/,
    });
  });

  test('that never gets further is given up', async () => {
    await using it = await talk([[cutAfter('ab'), cutAfter('')]]);
    await rejects(all(blobBytes(it.registry, it.name(), content)), { reason: 'Network' });
    equal(it.peers[0]?.heard.length, 6);
  });

  test('that is damaged, too long, or pieced together from two is refused', async () => {
    for (const script of [[answer(200, 'abcdeX')], [answer(200, 'abcdefg')], [cutAfter('aX'), ranged]]) {
      await using it = await talk([script]);
      await rejects(all(blobBytes(it.registry, it.name(), content)), { reason: 'Digest' });
    }
  });

  test('that is left in the middle ends its connection', async () => {
    const endless: Reply = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000000\r\n\r\n');
      const more = (): void => void (socket.writable && socket.write(Buffer.alloc(65_536), () => setImmediate(more)));
      more();
    };
    await using it = await talk([[endless]]);
    for await (const piece of blobBytes(it.registry, it.name(), { ...content, size: 100_000_000 })) {
      ok(piece.length > 0);
      break;
    }
    while ((it.peers[0]?.sockets.size ?? 0) > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test('that should be small is not begun when it is not', async () => {
    await using it = await talk([[answer(200, 'abcdef')]]);
    await rejects(blobWhole(it.registry, it.name(), content, { most: 5 }), { reason: 'TooLarge' });
    equal(it.peers[0]?.heard.length, 0);
    equal((await blobWhole(it.registry, it.name(), content, { most: 6 })).toString(), 'abcdef');
  });
});
