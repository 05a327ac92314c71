/**
 * Checks an inclusion proof, part by part. The verdict is that of `@svc/receipts/inclusion`; this file only assigns
 * each failure to a part, and says which parts could not be judged because of it.
 */
import type { Failure } from '@svc/receipts';
import { type InclusionFailureCode, verifyReceiptInclusion } from '@svc/transparency';
import type { Part } from '../shared/part.ts';
import type { InclusionProof } from '../shared/wire.ts';
import { isOpen } from './open.ts';

type PartId = 'receipt' | 'leaf' | 'checkpoint' | 'root' | 'path';

const RULES: readonly {
  readonly id: PartId;
  readonly name: string;
  readonly means: string;
  readonly needs: readonly PartId[];
}[] = [
  {
    id: 'receipt',
    name: 'Receipt',
    means: 'The proof is of the Receipt that was asked for, in the day of its id.',
    needs: [],
  },
  { id: 'leaf', name: 'Leaf', means: 'The leaf is SHA-256 of a zero byte and the Receipt id.', needs: [] },
  { id: 'checkpoint', name: 'Checkpoint', means: 'The service signed the checkpoint of the day.', needs: [] },
  {
    id: 'root',
    name: 'Root',
    means: 'Root, size and day are the ones that the checkpoint names.',
    needs: ['checkpoint'],
  },
  {
    id: 'path',
    name: 'Path',
    means: 'Hashed step by step, the path leads from the Receipt to the signed root.',
    needs: ['checkpoint'],
  },
];

/**
 * All parts. `serviceDocument` is the text of the service's pinned DID document. `attestation` is the service's, needed
 * where the key of the checkpoint is no longer in force.
 */
export const checkInclusion = (
  proof: InclusionProof,
  receiptId: string,
  serviceDocument: string,
  attestation?: string,
): readonly Part[] => {
  const result = verifyReceiptInclusion({
    ...{ receiptId, inclusion: proof, attestation, serviceDidDocument: serviceDocument },
  });
  const failures = result.ok ? [] : result.failures;
  // A fault of form prevents every other check.
  const isReadable = !failures.some(({ code }) => ILL_FORMED.has(code));
  const failed = new Set(failures.map(partOf));
  return RULES.map(({ id, name, means, needs }) => {
    const own = failures.filter((one) => partOf(one) === id);
    const isJudged = isReadable && !needs.some((needed) => failed.has(needed)) && !isOpen(own);
    const state = own.length > 0 && !isOpen(own) ? 'wrong' : isJudged ? 'ok' : 'unchecked';
    return { id, name, means, state, failures: own };
  });
};

const ILL_FORMED: ReadonlySet<InclusionFailureCode> = new Set([
  'malformed-inclusion',
  'missing-member',
  'malformed-member',
]);

const PART_OF_MEMBER: Readonly<Record<string, PartId>> = {
  '/receipt_id': 'receipt',
  '/leaf': 'leaf',
  '/leaf_index': 'path',
  '/audit_path': 'path',
  '/tree_size': 'root',
  '/root': 'root',
  '/checkpoint': 'checkpoint',
  '/kid': 'checkpoint',
};

const partOf = ({ code, path = '' }: Failure<InclusionFailureCode>): PartId => {
  if (path === '/day') return code === 'contradiction' ? 'root' : 'receipt';
  // A failure without a place in the proof is about the service's document, under which the checkpoint is checked.
  return PART_OF_MEMBER[path] ?? (code === 'malformed-inclusion' ? 'receipt' : 'checkpoint');
};
