/** Daily checkpoints and inclusion proofs (interface §Transparency). */
import { parseTimestamp } from '@svc/codec';
import { z } from 'zod';
import { EXAMPLE, exampleReceipt } from '../examples.ts';
import { compactJws, keyId, receiptId, sha256, timestamp, uri } from '../formats.ts';
import { didDocument, exampleDidDocument } from './public.ts';
import { receipt } from './receipt.ts';

const hex = z.string().regex(/^[0-9a-f]{64}$/, { error: 'must be 64 lower-case hex characters' });

/** A UTC day that exists. */
export const day = z
  .string({ error: 'must be a UTC day such as 2026-11-20' })
  .regex(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/, { error: 'must be a UTC day such as 2026-11-20' })
  .refine((text) => parseTimestamp(`${text}T00:00:00Z`) !== null, {
    error: 'must be a day that exists',
  })
  .meta({ example: '2026-11-20' });

/** A day that exists in the calendar and in the database: neither has a year 0. */
export const calendarDay = day.refine((text) => text > '0001', { error: 'must be a day that exists' });

const exampleCheckpoint = {
  day: '2026-11-20',
  tree_size: 1,
  root: `sha256:${'1'.repeat(64)}`,
  previous_root: `sha256:${'2'.repeat(64)}`,
  first_receipt_id: EXAMPLE.receiptId,
  last_receipt_id: EXAMPLE.receiptId,
  tree: 'rfc6962-sha256',
  kid: 'did:web:svc.example#status-1',
  checkpoint: EXAMPLE.jws,
  checkpoint_hash: `sha256:${'3'.repeat(64)}`,
  leaves_url: 'https://svc.example/checkpoints/2026-11-20/leaves',
  created_at: '2026-11-21T00:00:05.000Z',
};

export const checkpoint = z
  .strictObject({
    day,
    tree_size: z.int().min(0),
    root: sha256,
    previous_root: sha256.nullable(),
    first_receipt_id: receiptId.nullable(),
    last_receipt_id: receiptId.nullable(),
    tree: z.literal('rfc6962-sha256'),
    kid: keyId,
    checkpoint: compactJws,
    checkpoint_hash: sha256,
    leaves_url: uri,
    created_at: timestamp,
  })
  .meta({
    id: 'Checkpoint',
    description: 'The signed Merkle root over the receipt ids of one UTC day.',
    example: exampleCheckpoint,
  });

const exampleRestore = {
  epoch: 1,
  lost_from: '2026-11-20T09:59:58.000Z',
  lost_until: '2026-11-20T10:20:10.000Z',
  quarantined_until: '2026-11-20T10:25:23.000Z',
  reinstated_days: [],
  restored_at: '2026-11-20T10:24:00.000Z',
  statement: EXAMPLE.jws,
};

/**
 * Not in the interface: an honest service publishes it after its database was restored from a backup (protocol §12).
 */
const restore = z
  .strictObject({
    epoch: z.int().min(1),
    lost_from: timestamp,
    lost_until: timestamp,
    quarantined_until: timestamp,
    reinstated_days: z.array(day),
    restored_at: timestamp,
    statement: compactJws,
  })
  .meta({
    id: 'Restore',
    description: 'A period from which the ledger may lack promised entries, with the signed statement.',
    example: exampleRestore,
  });

export const restoreList = z.strictObject({ restores: z.array(restore) }).meta({
  id: 'RestoreList',
  description: 'Restores of the ledger, oldest first.',
  example: { restores: [exampleRestore] },
});

export const checkpointsClosed = z
  .strictObject({ closed: z.array(day), latest: day.nullable() })
  .meta({ id: 'CheckpointsClosed', example: { closed: ['2026-11-20'], latest: '2026-11-20' } });

const exampleInclusion = {
  receipt_id: EXAMPLE.receiptId,
  day: '2026-11-20',
  leaf: '1'.repeat(64),
  leaf_index: 0,
  tree_size: 1,
  root: `sha256:${'1'.repeat(64)}`,
  audit_path: [],
  checkpoint: EXAMPLE.jws,
  kid: 'did:web:svc.example#status-1',
};

export const inclusionProof = z
  .strictObject({
    receipt_id: receiptId,
    day,
    leaf: hex,
    leaf_index: z.int().min(0),
    tree_size: z.int().min(1),
    root: sha256,
    audit_path: z.array(hex),
    checkpoint: compactJws,
    kid: keyId,
  })
  .meta({
    id: 'InclusionProof',
    description: 'The proof that a receipt id is a leaf of its day (RFC 6962 §2.1.1).',
    example: exampleInclusion,
  });

/** Beyond the interface: its InclusionProof has no member for an attestation (protocol §12). */
export const attestation = z.strictObject({ receipt_id: receiptId, day, attestation: compactJws }).meta({
  id: 'InclusionAttestation',
  description: 'A statement, signed by a key in force, about a Receipt and the checkpoint of its day.',
  example: { receipt_id: EXAMPLE.receiptId, day: '2026-11-20', attestation: EXAMPLE.jws },
});

export const bundle = z
  .strictObject({
    receipt,
    inclusion: inclusionProof,
    checkpoint,
    attestation: compactJws.optional(),
    did_document: didDocument,
    evidence: z.array(z.strictObject({ hash: sha256, content_type: z.string(), body: z.string() })),
  })
  .meta({
    id: 'Bundle',
    description: 'A Receipt with everything that is needed to check it offline.',
    example: {
      receipt: exampleReceipt,
      inclusion: exampleInclusion,
      checkpoint: exampleCheckpoint,
      did_document: exampleDidDocument,
      evidence: [{ hash: `sha256:${'5'.repeat(64)}`, content_type: 'application/did+json', body: '{}' }],
    },
  });

export const inclusionPending = z
  .strictObject({ receipt_id: receiptId, day, status: z.literal('pending') })
  .meta({
    id: 'InclusionPending',
    description: 'The day of this Receipt has not been closed yet.',
    example: { receipt_id: EXAMPLE.receiptId, day: '2026-11-20', status: 'pending' },
  });
