/** Records in the form of the service's answers, for the tests of both libraries. */
import type { Reply } from './scripted-server.ts';

const at = '2026-11-20T08:00:00.000Z';
const service = 'did:web:svc.example';

export const meOf = (subject: string, role: 'principal' | 'rp' | 'org:read') => ({
  subject,
  role,
  key_id: '0123456789ab',
  service_did: service,
  env: 'development',
});

export const apiKeyOf = (subject: string, role: 'principal' | 'rp') => ({
  key_id: '3fa1c09be742',
  role,
  subject,
  label: 'ci',
  created_at: at,
  revoked_at: null,
});

export const directoryEntryOf = (did: string) => ({
  did,
  kind: 'hosted',
  domain: 'acme.example',
  verification: { state: 'unverified', verified_since: null, last_checked_at: at, method: 'domain' },
  keys: [{ kid: `${did}#key-1`, state: 'active', since: at }],
  did_document: null,
  registered_at: at,
});

export const principalOf = (did: string) => ({
  did,
  kind: 'hosted',
  domain: 'acme.example',
  verification: {
    state: 'verified',
    token: 'dG9rZW4',
    dns_txt: { name: '_svc-challenge.acme.example', value: 'svc-verification=dG9rZW4' },
    well_known: {
      url: 'https://acme.example/.well-known/svc-verification.json',
      body: { did, token: 'dG9rZW4' },
    },
    reverified_every_hours: 24,
    did_document_url: 'https://acme.example/.well-known/did.json',
  },
  created_at: at,
  org_id: null,
});

export const auditEventOf = (id: string, did: string) => ({
  event_id: `aud_${id}`,
  occurred_at: at,
  actor: { kind: 'principal', did, key_id: '0123456789ab' },
  action: 'grant.revoke',
  target: null,
  request_id: 'req-1',
  details: { count: 1 },
});

export const revokedKey: Reply = { json: { key_id: '3fa1c09be742', revoked: true, revoked_at: at } };
export const notFound: Reply = { status: 404, json: { error: 'NOT_FOUND', message: 'no' } };
