/** An inclusion proof that was tampered with is refused, and the part that is wrong is named. */

import { signedDays } from '@svc/testkit/receipts/signed-days';
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { describe, expect, it } from 'vitest';
import type { Part } from '../shared/part.ts';
import type { InclusionProof } from '../shared/wire.ts';
import { checkInclusion } from './check-inclusion.ts';

const document = JSON.stringify(serviceDocument);
const days = await signedDays();
const [day, otherDay] = [days[5], days[6]];
if (day === undefined || otherDay === undefined) throw new Error('there are days');
const receiptId = day.receiptIds[700] ?? '';
const otherId = day.receiptIds[701] ?? '';
const proof = day.proofOf(receiptId);

const wrong = (parts: readonly Part[]) => parts.filter(({ state }) => state === 'wrong').map(({ id }) => id);
const flip = (hex: string) => (hex.startsWith('0') ? '1' : '0') + hex.slice(1);

it('proofs of Receipts of every day are valid', () => {
  for (const { receiptIds, proofOf } of days)
    for (const id of receiptIds.filter((_, i) => i % 97 === 0))
      expect(wrong(checkInclusion(proofOf(id), id, document))).toEqual([]);
});

const TAMPERED: readonly (readonly [string, string, Partial<InclusionProof>])[] = [
  ['another Receipt', 'receipt', { receipt_id: otherId }],
  ['another day', 'root', { day: otherDay.record.day }],
  ['the leaf of another Receipt', 'leaf', { leaf: day.proofOf(otherId).leaf }],
  ['a leaf that is no hash', 'leaf', { leaf: 'x' }],
  ['another index', 'path', { leaf_index: 701 }],
  ['an index beyond the tree', 'path', { leaf_index: 1_203 }],
  ['another size', 'root', { tree_size: 1_204 }],
  [
    'a sibling with one bit turned',
    'path',
    { audit_path: proof.audit_path.map((hash, i) => (i === 2 ? flip(hash) : hash)) },
  ],
  ['a sibling left out', 'path', { audit_path: proof.audit_path.slice(1) }],
  ['siblings in another order', 'path', { audit_path: [...proof.audit_path].reverse() }],
  ['the root of another day', 'root', { root: otherDay.record.root }],
  ['the checkpoint of another day', 'root', { checkpoint: otherDay.record.checkpoint }],
  [
    'a checkpoint that nobody signed',
    'checkpoint',
    { checkpoint: proof.checkpoint.replace(/[^.]+$/, 'A'.repeat(86)) },
  ],
  ['no checkpoint', 'checkpoint', { checkpoint: 'x' }],
];

describe('a proof with', () => {
  it.each(TAMPERED)('%s is refused: %s', (_, part, change) => {
    expect(wrong(checkInclusion({ ...proof, ...change }, receiptId, document))).toContain(part);
  });
});

describe('a proof whose checkpoint has a key that the document does not have', () => {
  const older = JSON.stringify({ ...serviceDocument, verificationMethod: [] });

  it('has unchecked parts, not wrong ones: the document may be older', () => {
    const parts = checkInclusion(proof, receiptId, older);
    expect(Object.fromEntries(parts.map(({ id, state }) => [id, state]))).toEqual({
      ...{ receipt: 'ok', leaf: 'ok', checkpoint: 'unchecked', root: 'unchecked', path: 'unchecked' },
    });
    expect(parts.flatMap(({ failures }) => failures)).toMatchObject([{ code: 'unknown-key' }]);
  });

  it('is refused where something else in it is wrong', () => {
    const leaf = day.proofOf(otherId).leaf;
    expect(wrong(checkInclusion({ ...proof, leaf }, receiptId, older))).toEqual(['leaf']);
    expect(wrong(checkInclusion({ ...proof, kid: 'x' }, receiptId, older))).toEqual(['checkpoint']);
  });
});
