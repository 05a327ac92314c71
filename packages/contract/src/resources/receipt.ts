/** Receipt (interface §Receipt, protocol §8). Which members are present depends on how far the checks got. */
import { type CheckId, PROFILE_IDS, REASON_CODES, RESERVED_REASONS } from '@svc/protocol';
import { z } from 'zod';
import { isInEveryProfile, PROTOCOL_CHECKS, TRUST_CHECKS } from '../check-ids.ts';
import { exampleReceipt } from '../examples.ts';
import { compactJws, didKey, didWeb, grantId, receiptId, sha256, timestamp, uri } from '../formats.ts';

export const reasonCode = z.enum(REASON_CODES).meta({ id: 'ReasonCode' });

const RESERVED = RESERVED_REASONS.map((code) => `\`${code}\``).join(', ');

const checkOutcome = z.union([z.boolean(), z.literal('skipped')]).meta({
  id: 'CheckOutcome',
  description: '`true` passed, `false` failed, `skipped`: a prerequisite did not pass.',
});

/** An outcome of each check; of those that not every profile runs, only where the profile does. */
export const outcomes = <const Id extends CheckId>(ids: readonly Id[]) =>
  z.strictObject(
    Object.fromEntries(
      ids.map((id) => [id, isInEveryProfile(id) ? checkOutcome : checkOutcome.optional()]),
    ) as Record<Id, z.ZodOptional<typeof checkOutcome>>,
  );

export const capability = z
  .strictObject({
    action: z.enum(['commerce:purchase', 'api:call']),
    constraints: z.record(z.string(), z.unknown()),
    resources: z.array(z.string().min(1)).optional(),
  })
  .meta({ id: 'Capability', description: 'One thing a Grant allows.' });

export const receiptPrincipal = z.strictObject({
  id: didWeb,
  verification: z.enum(['domain', 'unverified']),
});

const evidence = z.strictObject({
  trust_config_version: z.string(),
  trust_config_hash: sha256,
  issuer_resolution: z
    .strictObject({ did: didWeb, did_document_hash: sha256, resolved_at: timestamp })
    .optional()
    .meta({ description: 'The DID document consulted; its bytes are at `/evidence/{did_document_hash}`.' }),
  status: z
    .strictObject({
      credential_url: uri,
      credential_hash: sha256,
      valid_from: timestamp.optional(),
      checked_at: timestamp,
      status_list_index: z.string().regex(/^(0|[1-9][0-9]*)$/),
    })
    .optional()
    .meta({ description: 'The status list consulted; its bytes are at `/evidence/{credential_hash}`.' }),
  consumption: z
    .strictObject({ key: sha256, version: z.int().min(0), snapshot_hash: sha256 })
    .optional()
    .meta({ description: 'Under `svc-base-v2`, the budget this ALLOW consumed.' }),
});

export const receipt = z
  .strictObject({
    receipt_version: z.literal('svc-receipt-v1'),
    receipt_id: receiptId,
    decision: z.enum(['ALLOW', 'DENY']),
    reason: reasonCode.nullable().meta({
      description: `The first failed check; null on ALLOW. Reserved and never given: ${RESERVED}.`,
    }),
    evaluated_at: timestamp,
    relying_party: didWeb,
    principal: receiptPrincipal.optional(),
    agent: didKey.optional(),
    grant_id: grantId.optional(),
    grant_hash: sha256,
    proof_hash: sha256,
    request_hash: sha256.optional().meta({
      description:
        'SHA-256 over the JCS form of the action, method and URL: recompute it from the request that you received.',
    }),
    authority: capability
      .nullable()
      .optional()
      .meta({ description: 'The Capability that allowed it; null on DENY.' }),
    expires_at: timestamp.optional(),
    evidence,
    protocol: z.strictObject({
      result: z.enum(['PASS', 'FAIL']),
      profile: z.enum(PROFILE_IDS),
      profile_hash: sha256,
      checks: outcomes(PROTOCOL_CHECKS),
    }),
    trust: z.strictObject({
      result: z.enum(['PASS', 'FAIL']),
      policy_version: z.literal('svc-trust-v1'),
      checks: outcomes(TRUST_CHECKS),
    }),
    receipt: compactJws.meta({
      description:
        'Compact JWS (typ `svc-receipt+jwt`) over the JCS form of this object without this member.',
    }),
  })
  .meta({ id: 'Receipt', description: 'A signed decision.', example: exampleReceipt });
