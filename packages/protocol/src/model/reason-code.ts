/** ReasonCode (interface §Receipt), in the interface's order: protocol, then trust, then reserved. */
export const PROTOCOL_REASONS = [
  'GRANT_MALFORMED',
  'UNSUPPORTED_FEATURE',
  'ISSUER_KEY_NOT_FOUND',
  'GRANT_SIGNATURE_INVALID',
  'GRANT_NOT_YET_VALID',
  'GRANT_EXPIRED',
  'AUTHORITY_REVOKED',
  'AUDIENCE_MISMATCH',
  'PROOF_MALFORMED',
  'PROOF_SIGNATURE_INVALID',
  'PROOF_AGENT_MISMATCH',
  'PROOF_GRANT_MISMATCH',
  'PROOF_AUDIENCE_MISMATCH',
  'PROOF_EXPIRED',
  'PROOF_ACTION_MISMATCH',
  'ACTION_MALFORMED',
  'ACTION_NOT_AUTHORIZED',
  'UNKNOWN_CONSTRAINT',
  'CURRENCY_NOT_AUTHORIZED',
  'AMOUNT_EXCEEDS_AUTHORITY',
  'RESOURCE_NOT_AUTHORIZED',
] as const;

export const TRUST_REASONS = [
  'ISSUER_UNKNOWN',
  'ISSUER_UNVERIFIED',
  'ISSUER_KEY_COMPROMISED',
  'PROOF_REPLAYED',
  'SERVICE_UNAVAILABLE',
] as const;

/** Named by the interface, produced by nothing in `svc-trust-v1`. */
export const RESERVED_REASONS = ['ISSUER_NOT_TRUSTED'] as const;

export const REASON_CODES = [...PROTOCOL_REASONS, ...TRUST_REASONS, ...RESERVED_REASONS] as const;

export type ReasonCode = (typeof REASON_CODES)[number];

const known: ReadonlySet<string> = new Set(REASON_CODES);
export const isReasonCode = (text: unknown): text is ReasonCode =>
  typeof text === 'string' && known.has(text);
