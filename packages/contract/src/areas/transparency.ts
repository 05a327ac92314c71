/** Daily checkpoints over receipt ids, and proofs that a Receipt is in one (interface §Endpoints, protocol §12). */
import { z } from 'zod';
import { didWeb, receiptId } from '../formats.ts';
import {
  attestation,
  bundle,
  calendarDay,
  checkpoint,
  checkpointsClosed,
  inclusionPending,
  inclusionProof,
  restoreList,
} from '../resources/checkpoint.ts';
import { defineRoute, json, stream } from '../route.ts';

const CACHE = { 'Cache-Control': 'How long the answer may be kept; for ever once the day is closed.' };

export const transparencyRoutes = {
  getLatestCheckpoint: defineRoute({
    method: 'get',
    path: '/checkpoints/latest',
    tag: 'Transparency',
    summary: 'The latest checkpoint',
    description: 'The checkpoint of the most recent closed day.',
    auth: [],
    limiter: 'public',
    responses: { 200: json(checkpoint, 'The checkpoint.', CACHE) },
    errors: { NOT_FOUND: 'No day has been closed yet.' },
  }),

  getCheckpoint: defineRoute({
    method: 'get',
    path: '/checkpoints/{day}',
    tag: 'Transparency',
    summary: 'The checkpoint of a day',
    description: [
      'The signed Merkle root over the receipt ids of one UTC day. It never changes once it is published, and names the',
      'root of the day before, so that nobody can rewrite a day without being seen. Keep what you have read.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ day: calendarDay }),
    responses: { 200: json(checkpoint, 'The checkpoint.', CACHE) },
    errors: { NOT_FOUND: 'This day is not closed.' },
  }),

  getCheckpointLeaves: defineRoute({
    method: 'get',
    path: '/checkpoints/{day}/leaves',
    tag: 'Transparency',
    summary: 'The leaves of a day',
    description: [
      'SHA-256(0x00 and the receipt id) of every Receipt of the day in tree order, one in hex per line. The RFC 6962 root',
      'over them is the root of the checkpoint. Of a day that `GET /restores` names as reinstated, only the leaves that are',
      'left are listed.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ day: calendarDay }),
    responses: {
      200: stream(['text/plain; charset=utf-8'], 'One leaf per line.', {
        headers: {
          ...CACHE,
          'X-Svc-Tree-Size': 'How many leaves the checkpoint is over.',
          'X-Svc-Root': 'The root of the checkpoint.',
        },
      }),
    },
    errors: {
      NOT_FOUND: 'This day is not closed.',
      RATE_LIMITED: 'The limit of the address, or two lists of leaves for it under way on this node.',
    },
  }),

  listRestores: defineRoute({
    method: 'get',
    path: '/restores',
    tag: 'Transparency',
    summary: 'List the restores of the ledger',
    description: [
      'Each time the database had to be set back to a backup: the span of which decisions may be missing, and the signed',
      'statement. Empty for a ledger that never lost anything.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    responses: { 200: json(restoreList, 'The restores.') },
    errors: {},
  }),

  getInclusion: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}/inclusion',
    tag: 'Transparency',
    summary: 'Prove that a Receipt is in its day',
    description: [
      'The audit path from the receipt id to the root of its day, with the signed checkpoint. Check it with `@svc/merkle`',
      'or `svc-receipt verify --inclusion`.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ receipt_id: receiptId }),
    responses: {
      200: json(inclusionProof, 'The proof.', CACHE),
      202: json(inclusionPending, 'The day is still open; ask again once it is closed.'),
    },
    errors: {
      NOT_FOUND: 'No such Receipt, or a restore put its day back and left nothing to prove it with.',
    },
  }),

  getAttestation: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}/attestation',
    tag: 'Transparency',
    summary: 'Attest to a Receipt and its checkpoint',
    description: [
      'The word of a status key in force for the stored Receipt and the checkpoint of its day, by their hashes. It takes it',
      'to check, with `svc-receipt verify --inclusion --attestation`, what was signed by a key that has ended or leaked.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ receipt_id: receiptId }),
    responses: {
      200: json(attestation, 'The attestation.', CACHE),
      202: json(inclusionPending, 'The day is still open; ask again once it is closed.'),
    },
    errors: { NOT_FOUND: 'No such Receipt.' },
  }),

  getBundle: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}/bundle',
    tag: 'Transparency',
    summary: 'A decision with everything to check it offline',
    description: [
      'One JSON file: the Receipt, the proof that it is in its day, the checkpoint, the DID document of the service and',
      'the evidence that the Receipt names. `svc-receipt verify --bundle` accepts it alone, years later, with a pinned',
      'DID document or keys. Where a key that signed is not in force any more, it holds an attestation. Grants and Proofs are',
      'not in it.',
    ].join('\n'),
    auth: ['rp', 'org', 'admin'],
    limiter: 'authenticated',
    params: z.strictObject({ receipt_id: receiptId }),
    query: z.strictObject({
      rp: didWeb.optional().meta({ description: 'Org keys: one member relying party. Admin: any.' }),
    }),
    responses: {
      200: json(bundle, 'The bundle.', { 'Content-Disposition': 'A file name.' }),
      202: json(inclusionPending, 'The day is still open; ask again once it is closed.'),
    },
    errors: {
      NOT_FOUND:
        "Not one of this relying party's decisions, or a restore put its day back and left no proof.",
    },
  }),

  closeCheckpoints: defineRoute({
    method: 'post',
    path: '/checkpoints/close',
    tag: 'Transparency',
    summary: 'Close every ended day now',
    description:
      'What the worker does every five minutes. Idempotent; days that are closed stay as they are.',
    auth: ['admin'],
    limiter: 'authenticated',
    responses: { 200: json(checkpointsClosed, 'The days that this call closed, and the latest closed one.') },
    errors: {},
  }),
} as const;
