import { readFileSync } from 'node:fs';
import { formatHash } from '@svc/merkle';
import { describe, expect, it } from 'vitest';
import { type Checkpoint, dayOfReceipt, leafOfReceipt, verifyCheckpoint } from '../src/index.ts';

const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../../vectors/${name}`, import.meta.url), 'utf8')) as T;

const { receipts, checkpoints } = read<{
  readonly receipts: {
    readonly day: string;
    readonly ids: readonly string[];
    readonly leaves: readonly string[];
  };
  readonly checkpoints: readonly {
    readonly description: string;
    readonly checkpoint: string;
    readonly expected: Checkpoint | null;
  }[];
}>('merkle.json');

it('the published trees have the leaves of their Receipt ids, in order and of one day', () => {
  const { ids, leaves, day } = receipts;
  expect(ids.map((id) => formatHash(leafOfReceipt(id)))).toEqual(leaves);
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids.map(dayOfReceipt))).toEqual(new Set([day]));
});

describe('the published checkpoints', () => {
  const { service_did_document: document } = read<{ readonly service_did_document: { readonly id: string } }>(
    'keys.json',
  );

  it.each(checkpoints)('verify as stated: $description', ({ checkpoint, expected }) => {
    const verified = verifyCheckpoint({ checkpoint, serviceDidDocument: document });
    expect(verified.ok ? verified.checkpoint : null).toEqual(expected);
  });
});
