import { deepEqual, ok, throws } from 'node:assert/strict';
import { test } from 'node:test';
import { readListing } from './listing.ts';

const page = (inner: string) =>
  `<?xml version="1.0"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inner}</ListBucketResult>`;
const object = (key: string, size = '3') =>
  `<Contents><ETag>&quot;x&quot;</ETag><Key>${key}</Key><Size>${size}</Size></Contents>`;

test('keys are read with their entities, whatever the order of the fields', () => {
  deepEqual(readListing(page(`${object('a/b&amp;c &lt;x&gt; +')}${object('d&#10;&#x41;')}`)), {
    keys: [
      { key: 'a/b&c <x> +', size: 3 },
      { key: 'd\nA', size: 3 },
    ],
    next: undefined,
  });
});

test('a page that is not the last names the next', () => {
  const more = '<IsTruncated>true</IsTruncated>';
  deepEqual(readListing(page(`${more}<NextContinuationToken>a&amp;b</NextContinuationToken>`)).next, 'a&b');
  throws(() => readListing(page(more)), /breaks off/);
});

test('what is no listing is not taken for an empty one', () => {
  throws(() => readListing('<html></html>'), /no listing/);
  throws(() => readListing(page(object('a', 'many'))), /cannot be read/);
  throws(() => readListing(page('<Contents><Size>3</Size></Contents>')), /cannot be read/);
});

test('a large page of beginnings without an end is refused at once', () => {
  const began = performance.now();
  throws(() => readListing(page('<Contents>'.repeat(300_000))), /cannot be read/);
  ok(performance.now() - began < 1_000);
});
