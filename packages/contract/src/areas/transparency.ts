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

const CACHE = { 'Cache-Control': 'How long the answer may be cached; for ever once the day is closed.' };

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
      'The signed Merkle root over the receipt ids of one UTC day. It never changes once it is published, and it names',
      'the root of the day before, so that nobody can rewrite a day unnoticed. Keep the checkpoints that you have read.',
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
      'SHA-256(0x00 and the receipt id) of every Receipt of the day in tree order, one in hex per line. The RFC 6962',
      'root over them is the root of the checkpoint. For a day that `GET /restores` lists as reinstated, only the',
      'remaining leaves are listed.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ day: calendarDay }),
    responses: {
      200: stream(['text/plain; charset=utf-8'], 'One leaf per line.', {
        headers: {
          ...CACHE,
          'X-Svc-Tree-Size': 'The number of leaves of the checkpoint.',
          'X-Svc-Root': 'The root of the checkpoint.',
        },
      }),
    },
    errors: {
      NOT_FOUND: 'This day is not closed.',
      RATE_LIMITED:
        'The rate limit of the address, or the address already has two lists of leaves in progress on this node.',
    },
  }),

  listRestores: defineRoute({
    method: 'get',
    path: '/restores',
    tag: 'Transparency',
    summary: 'List the restores of the ledger',
    description: [
      'Lists each restore of the database from a backup: the period from which decisions may be missing, and the signed',
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
      NOT_FOUND: 'No such Receipt, or a restore reinstated its day and left no proof of it.',
    },
  }),

  getAttestation: defineRoute({
    method: 'get',
    path: '/decisions/{receipt_id}/attestation',
    tag: 'Transparency',
    summary: 'Attest to a Receipt and its checkpoint',
    description: [
      'A statement, signed by a status key in force, that the service stores this Receipt and the checkpoint of its',
      'day, by their hashes. With it, `svc-receipt verify --inclusion --attestation` can check what was signed by a key',
      'that has ended or leaked.',
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
    summary: 'Get a decision with everything to check it offline',
    description: [
      'One JSON file with the Receipt, the proof that it is in its day, the checkpoint, the DID document of the service',
      'and the evidence that the Receipt names. `svc-receipt verify --bundle` needs nothing else, even years later,',
      'except a pinned DID document or keys. If a key that signed is no longer in force, the bundle contains an',
      'attestation. It does not contain Grants and Proofs.',
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
        'Not one of this relying party’s decisions, or a restore reinstated its day and left no proof of it.',
    },
  }),

  closeCheckpoints: defineRoute({
    method: 'post',
    path: '/checkpoints/close',
    tag: 'Transparency',
    summary: 'Close every ended day now',
    description:
      'Does what the worker does every five minutes. You may repeat the call; closed days stay as they are.',
    auth: ['admin'],
    limiter: 'authenticated',
    responses: { 200: json(checkpointsClosed, 'The days that this call closed, and the latest closed one.') },
    errors: {},
  }),
} as const;
