import { expect, it } from 'vitest';
import { createDocument } from './verify.ts';

it('a document that was fetched is used for five minutes, and never instead of a newer one that could not be had', async () => {
  let nowMs = 0;
  let served: string | null = 'first';
  const fetchDocument = async () => {
    if (served === null) throw new Error('unreachable');
    return served;
  };
  const document = createDocument(
    { document: undefined, did: 'did:web:svc.example' },
    fetchDocument,
    () => nowMs,
  );
  expect(await document()).toBe('first');
  served = 'second';
  nowMs = 299_999;
  expect(await document()).toBe('first');
  nowMs = 300_000;
  expect(await document()).toBe('second');
  served = null;
  nowMs = 600_000;
  await expect(document()).rejects.toThrow('unreachable');
});
