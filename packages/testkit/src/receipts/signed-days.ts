/** A chain of closed days for the tests of the explorer, each signed by the service of the test Receipts. */
import { createHash } from 'node:crypto';
import type { Body, Routes } from '@svc/contract';
import { formatHash, MerkleTree } from '@svc/merkle';
import { DAY_MS, dayOf, encodeUlid, type Signer } from '@svc/protocol';
import { buildCheckpoint, leafOfReceipt, signCheckpoint } from '@svc/transparency';
import { SERVICE, signerOf } from './signed-receipts.ts';

type Checkpoint = Body<Routes['getCheckpoint'], 200>;
type InclusionProof = Body<Routes['getInclusion'], 200>;

const FIRST_DAY_MS = Date.UTC(2026, 10, 9);
/** Receipts of each day, the first day first. */
const SIZES = [3, 41, 17, 0, 64, 1_203, 88, 5, 31, 250, 1];

export interface SignedDay {
  readonly record: Checkpoint;
  readonly receiptIds: readonly string[];
  proofOf(receiptId: string): InclusionProof;
}

const receiptIdsOf = (dayMs: number, count: number): string[] =>
  Array.from({ length: count }, (_, i) => {
    const noise = createHash('sha256').update(`${dayMs} ${i}`).digest().subarray(0, 10);
    return `drc_${encodeUlid(dayMs + i * 60_000, new Uint8Array(noise))}`;
  });

interface Closer {
  readonly serviceDid: string;
  readonly signer: Signer;
}

const CLOSER: Closer = { serviceDid: SERVICE, signer: signerOf(2, `${SERVICE}#status-1`) };

/** Closes the day that begins at `dayMs`. */
export const signDay = async (
  dayMs: number,
  receiptIds: readonly string[],
  previousRoot: Uint8Array | null,
  { serviceDid, signer }: Closer = CLOSER,
) => {
  const tree = new MerkleTree(receiptIds.map((id) => leafOfReceipt(id)));
  const checkpoint = buildCheckpoint({
    serviceDid,
    day: dayOf(dayMs),
    treeSize: receiptIds.length,
    root: tree.root,
    previousRoot,
    firstReceiptId: receiptIds[0] ?? null,
    lastReceiptId: receiptIds.at(-1) ?? null,
    closedAtSeconds: (dayMs + DAY_MS) / 1000 + 5,
  });
  const jws = await signCheckpoint(checkpoint, signer);
  const { day, tree_size, root, previous_root, first_receipt_id, last_receipt_id } = checkpoint;
  const record: Checkpoint = {
    ...{ day, tree_size, root, previous_root, first_receipt_id, last_receipt_id },
    tree: 'rfc6962-sha256',
    kid: signer.kid,
    checkpoint: jws,
    checkpoint_hash: `sha256:${createHash('sha256').update(jws).digest('hex')}`,
    leaves_url: `https://svc.example/checkpoints/${day}/leaves`,
    created_at: new Date(dayMs + DAY_MS + 5_000).toISOString(),
  };
  const proofOf = (receiptId: string): InclusionProof => {
    const { leafHash, index, size, path } = tree.proveInclusion(receiptIds.indexOf(receiptId));
    return {
      receipt_id: receiptId,
      ...{ day, root },
      leaf: formatHash(leafHash),
      leaf_index: index,
      tree_size: size,
      audit_path: path.map(formatHash),
      checkpoint: jws,
      kid: signer.kid,
    };
  };
  return { day: { record, receiptIds, proofOf }, root: tree.root };
};

/** The first day first. */
export const signedDays = async (): Promise<readonly SignedDay[]> => {
  const days: SignedDay[] = [];
  let previousRoot: Uint8Array | null = null;
  for (const [i, size] of SIZES.entries()) {
    const dayMs = FIRST_DAY_MS + i * DAY_MS;
    const signed = await signDay(dayMs, receiptIdsOf(dayMs, size), previousRoot);
    days.push(signed.day);
    previousRoot = signed.root;
  }
  return days;
};
