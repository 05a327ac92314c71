/**
 * Example values that the parts of the API reference share. Tests check each with the schema that shows it, and the
 * Receipt with its verifier.
 */
import { type CheckId, PROFILES } from '@svc/protocol';
import { isInEveryProfile, PROTOCOL_CHECKS, TRUST_CHECKS } from './check-ids.ts';

const hash = (digit: string) => `sha256:${digit.repeat(64)}`;

export const EXAMPLE = {
  agent: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  principal: 'did:web:svc.example:org:acme',
  signingKey: 'did:web:svc.example:org:acme#key-1',
  relyingParty: 'did:web:svc.example:rp:shop',
  grantId: 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J',
  receiptId: 'drc_01M7VZGC008Q2R7V9X1C4E6H8K',
  orgId: 'org_01M7VZGC008Q2R7V9X1C4E6H8M',
  keyId: '3fa1c09be742',
  publicKey: 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
  jws: 'eyJhbGciOiJFZERTQSJ9.eyJleGFtcGxlIjp0cnVlfQ.c2lnbmF0dXJl',
  at: '2026-11-20T08:00:00.000Z',
  statusList: 'https://status.svc.example/svc.example/1',
  statusIndex: 94567,
} as const;

/** Has the form of a key but is not one: its checksum does not match. */
export const exampleApiKey = (prefix: string) => `${prefix}${'EXAMPLE'.repeat(7)}`;

const passed = (ids: readonly CheckId[]) =>
  Object.fromEntries(ids.filter(isInEveryProfile).map((id) => [id, true]));

export const exampleReceipt = {
  receipt_version: 'svc-receipt-v1',
  receipt_id: EXAMPLE.receiptId,
  decision: 'ALLOW',
  reason: null,
  evaluated_at: EXAMPLE.at,
  relying_party: EXAMPLE.relyingParty,
  principal: { id: EXAMPLE.principal, verification: 'domain' },
  agent: EXAMPLE.agent,
  grant_id: EXAMPLE.grantId,
  grant_hash: hash('1'),
  proof_hash: hash('2'),
  request_hash: hash('3'),
  authority: {
    action: 'commerce:purchase',
    constraints: { maxAmount: 50000, currency: 'USD' },
    resources: ['order/**'],
  },
  expires_at: '2026-12-20T08:00:00Z',
  evidence: {
    trust_config_version: 'svc-trust-config-1',
    trust_config_hash: 'sha256:0c4a5230f05be003701063986b5d01534d64cdf8423c322f83eb12ba7123c78e',
    issuer_resolution: { did: EXAMPLE.principal, did_document_hash: hash('5'), resolved_at: EXAMPLE.at },
    status: {
      credential_url: EXAMPLE.statusList,
      credential_hash: hash('6'),
      valid_from: '2026-11-20T07:59:50Z',
      checked_at: EXAMPLE.at,
      status_list_index: String(EXAMPLE.statusIndex),
    },
  },
  protocol: {
    result: 'PASS',
    profile: 'svc-base-v1',
    profile_hash: PROFILES['svc-base-v1'].hash,
    checks: passed(PROTOCOL_CHECKS),
  },
  trust: { result: 'PASS', policy_version: 'svc-trust-v1', checks: passed(TRUST_CHECKS) },
  receipt: EXAMPLE.jws,
};
