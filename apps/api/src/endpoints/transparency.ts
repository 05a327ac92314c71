/** Daily checkpoints over receipt ids, and proofs that a Receipt is in one (interface §Transparency, protocol §12). */
import { formatTimestamp, type ReceiptId } from '@svc/protocol';
import {
  type Attestor,
  type CheckpointRecord,
  closeDays,
  type EvidenceRecord,
  getAttestation,
  getBundle,
  getInclusion,
  type InclusionAnswer,
  listLeaves,
  notFound,
  type RestoreRecord,
  type ServiceDeps,
  type ServiceIdentity,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { tenantOfCall } from './as-caller.ts';
import { leavesMs, type StreamTurns } from './stream-turns.ts';

/**
 * One hour only: a day that was closed too early is retracted (protocol §12), and a key that vouches for an answer can
 * end.
 */
const AN_HOUR = { 'Cache-Control': 'public, max-age=3600' };
const UNTIL_THE_NEXT = { 'Cache-Control': 'public, max-age=60' };

/** State that is kept between calls. */
interface Kept {
  readonly leafTurns: StreamTurns;
  readonly attestor: Attestor;
}

export const transparencyEndpoints = (
  deps: ServiceDeps,
  { leafTurns, attestor }: Kept,
): HandlersOf<'transparency'> => ({
  getLatestCheckpoint: async () => {
    const checkpoint = await deps.store.checkpoints.findLatest();
    if (checkpoint === null) throw notFound('No day has been closed yet.');
    return { status: 200, body: presentCheckpoint(deps.identity, checkpoint), headers: UNTIL_THE_NEXT };
  },

  getCheckpoint: async ({ params }) => {
    const checkpoint = await deps.store.checkpoints.find(params.day);
    if (checkpoint === null) throw notFound(`${params.day} is not closed.`);
    return { status: 200, body: presentCheckpoint(deps.identity, checkpoint), headers: AN_HOUR };
  },

  /** Streamed, since a day can have millions of leaves. */
  getCheckpointLeaves: async ({ params, ...call }) => {
    const { checkpoint, text } = await listLeaves(deps, params.day);
    return {
      status: 200,
      ...leafTurns.reply(tenantOfCall(call), text, leavesMs(checkpoint.treeSize)),
      contentType: 'text/plain; charset=utf-8',
      headers: {
        ...AN_HOUR,
        'X-Svc-Tree-Size': String(checkpoint.treeSize),
        'X-Svc-Root': checkpoint.root,
      },
    };
  },

  listRestores: async () => {
    const restores = await deps.store.restores.list();
    return { status: 200, body: { restores: restores.map(presentRestore) }, headers: UNTIL_THE_NEXT };
  },

  getInclusion: async ({ params: { receipt_id } }) => {
    const answer = await getInclusion(deps, receipt_id);
    if (answer.kind === 'pending') return { status: 202, body: presentPending(receipt_id, answer.day) };
    return { status: 200, body: presentInclusion(receipt_id, answer), headers: AN_HOUR };
  },

  getAttestation: async ({ params: { receipt_id }, ...call }) => {
    const answer = await getAttestation(deps, attestor, tenantOfCall(call), receipt_id);
    if (answer.kind === 'pending') return { status: 202, body: presentPending(receipt_id, answer.day) };
    const { day, attestation } = answer;
    return { status: 200, body: { receipt_id, day, attestation }, headers: AN_HOUR };
  },

  getBundle: async ({ caller, params: { receipt_id }, query }) => {
    const answer = await getBundle(deps, attestor, caller, receipt_id, query.rp);
    if (answer.kind === 'pending') return { status: 202, body: presentPending(receipt_id, answer.day) };
    const { receiptText, inclusion, attestation, didDocument, evidence } = answer;
    // The Receipt and the DID document have the same text here as everywhere else.
    const members = [
      `"receipt":${receiptText}`,
      `"inclusion":${JSON.stringify(presentInclusion(receipt_id, inclusion))}`,
      `"checkpoint":${JSON.stringify(presentCheckpoint(deps.identity, inclusion.checkpoint))}`,
      ...(attestation === null ? [] : [`"attestation":${JSON.stringify(attestation)}`]),
      `"did_document":${didDocument}`,
      `"evidence":${JSON.stringify(evidence.map(presentEvidence))}`,
    ];
    return {
      status: 200,
      rawBody: `{${members.join(',')}}`,
      headers: { 'Content-Disposition': `attachment; filename="${receipt_id}.bundle.json"` },
    };
  },

  closeCheckpoints: async () => {
    const { closed, latest } = await closeDays(deps);
    return { status: 200, body: { closed: [...closed], latest } };
  },
});

const presentCheckpoint = ({ baseUrl }: ServiceIdentity, record: CheckpointRecord) => ({
  day: record.day,
  tree_size: record.treeSize,
  root: record.root,
  previous_root: record.previousRoot,
  first_receipt_id: record.firstReceiptId,
  last_receipt_id: record.lastReceiptId,
  tree: 'rfc6962-sha256' as const,
  kid: record.kid,
  checkpoint: record.jws,
  checkpoint_hash: record.hash,
  leaves_url: `${baseUrl}/checkpoints/${record.day}/leaves`,
  created_at: formatTimestamp(record.createdAtMs),
});

const presentRestore = (record: RestoreRecord) => ({
  epoch: record.epoch,
  lost_from: formatTimestamp(record.lostFromMs),
  lost_until: formatTimestamp(record.lostUntilMs),
  quarantined_until: formatTimestamp(record.quarantinedUntilMs),
  reinstated_days: [...record.reinstatedDays],
  restored_at: formatTimestamp(record.restoredAtMs),
  statement: record.statement,
});

const presentInclusion = (
  receiptId: ReceiptId,
  { checkpoint, leaf, leafIndex, auditPath }: Extract<InclusionAnswer, { readonly kind: 'proven' }>,
) => ({
  receipt_id: receiptId,
  day: checkpoint.day,
  leaf,
  leaf_index: leafIndex,
  tree_size: checkpoint.treeSize,
  root: checkpoint.root,
  audit_path: [...auditPath],
  checkpoint: checkpoint.jws,
  kid: checkpoint.kid,
});

const presentPending = (receiptId: ReceiptId, day: string) => ({
  receipt_id: receiptId,
  day,
  status: 'pending' as const,
});

/** Text is sent as text, everything else in base64url. */
const presentEvidence = ({ hash, contentType, body }: EvidenceRecord) => {
  const bytes = Buffer.from(body);
  const text = bytes.toString('utf8');
  return {
    hash,
    content_type: contentType,
    body: Buffer.from(text).equals(bytes) ? text : bytes.toString('base64url'),
  };
};
