/**
 * The closed day of a Receipt: its checkpoint and inclusion proof in the form of the service's answers, and a bundle.
 */
import { formatHash, MerkleTree } from '@svc/merkle';
import { encodeUlid, portableCrypto, type Signer, sha256Of, ulidOf, ulidTimeMs } from '@svc/protocol';
import {
  type Attestation,
  buildCheckpoint,
  type Checkpoint,
  dayOfReceipt,
  leafOfReceipt,
  signAttestation,
  signCheckpoint,
} from '@svc/transparency';
import { SERVICE, serviceDocument, statusSigner, type World } from './world.ts';

export interface ClosedDay {
  readonly checkpoint: Checkpoint;
  readonly jws: string;
  /** The answer of `GET /checkpoints/{day}`. */
  readonly record: Readonly<Record<string, unknown>>;
  /** The answer of `GET /decisions/{receipt_id}/inclusion`. */
  readonly inclusion: Readonly<Record<string, unknown>> & { readonly audit_path: readonly string[] };
}

/** An attestation, signed by `signer`, for the Receipt with this id and JWS and the checkpoint of its day. */
export const attestTo = (
  receipt: { readonly id: string; readonly jws: string },
  { jws: checkpoint }: Pick<ClosedDay, 'jws'>,
  signer: Signer = statusSigner,
  change: Partial<Attestation> = {},
): Promise<string> =>
  signAttestation(
    {
      ...{ iss: SERVICE, receipt_id: receipt.id, iat: Date.parse('2026-12-01T00:00:01Z') / 1000 },
      receipt_hash: sha256Of(portableCrypto, receipt.jws),
      checkpoint_hash: sha256Of(portableCrypto, checkpoint),
      ...change,
    },
    signer,
  );

/** Closes the day of the world's Receipt, with the given numbers of other Receipts before and after it. */
export const closeDayOf = async (
  { body: { receipt_id: receiptId } }: { readonly body: Pick<World['body'], 'receipt_id'> },
  { before = 3, after = 5, signer = statusSigner, closedBy = SERVICE } = {} as {
    before?: number;
    after?: number;
    signer?: Signer;
    closedBy?: string;
  },
): Promise<ClosedDay> => {
  const atMs = ulidTimeMs(ulidOf(receiptId)) ?? 0;
  const other = (offsetMs: number) => `drc_${encodeUlid(atMs + offsetMs, new Uint8Array(10).fill(1))}`;
  const ids = [
    ...Array.from({ length: before }, (_, i) => other(i - before)),
    receiptId,
    ...Array.from({ length: after }, (_, i) => other(i + 1)),
  ];
  const tree = new MerkleTree(ids.map((id) => leafOfReceipt(id)));
  const day = dayOfReceipt(receiptId) ?? '';
  const checkpoint = buildCheckpoint({
    serviceDid: closedBy,
    day,
    treeSize: tree.size,
    root: tree.root,
    previousRoot: null,
    firstReceiptId: ids[0] ?? null,
    lastReceiptId: ids.at(-1) ?? null,
    closedAtSeconds: Date.parse(day) / 1000 + 86_401,
  });
  const jws = await signCheckpoint(checkpoint, signer);
  const { leafHash, index, path } = tree.proveInclusion(before);
  const { iss, iat, ...published } = checkpoint;
  return {
    checkpoint,
    jws,
    record: {
      ...published,
      ...{ kid: signer.kid, checkpoint: jws, checkpoint_hash: sha256Of(portableCrypto, jws) },
      ...{ leaves_url: `https://svc.example/checkpoints/${day}/leaves`, created_at: '2026-11-21T00:00:01Z' },
    },
    inclusion: {
      ...{ receipt_id: receiptId, day, leaf: formatHash(leafHash), leaf_index: index, tree_size: tree.size },
      ...{ root: checkpoint.root, audit_path: path.map(formatHash), checkpoint: jws, kid: signer.kid },
    },
  };
};

export interface Bundle {
  readonly receipt: unknown;
  readonly inclusion: ClosedDay['inclusion'];
  readonly checkpoint: unknown;
  readonly did_document: unknown;
  readonly evidence: readonly {
    readonly hash: string;
    readonly content_type: string;
    readonly body: string;
  }[];
}

/** Everything about the world's Receipt, in one object. */
export const bundleOf = (world: World, { inclusion, record }: ClosedDay): Bundle => ({
  receipt: JSON.parse(world.signed.text),
  inclusion,
  checkpoint: record,
  did_document: serviceDocument,
  evidence: [...world.evidence].map(([hash, body]) => ({ hash, content_type: 'application/json', body })),
});
