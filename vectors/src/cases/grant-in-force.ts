/** P4–P7: the authenticated Grant at this moment, as allocated, for this relying party (protocol §7, §9). */
import { STATUS_INDEX, statusEntry } from '../scene.ts';
import { STATUS_LISTS } from '../status-lists.ts';
import { KEYS, RP_DID } from '../test-keys.ts';
import { allow, deny, type VectorCase } from '../vector-case.ts';

const VALIDITY: readonly VectorCase[] = [
  allow('p04-valid-from-is-now', 'validFrom itself is included', { P4: true }, (s) => {
    s.grant.payload.validFrom = '2026-11-20T10:00:00Z';
  }),
  deny(
    'GRANT_NOT_YET_VALID',
    'p04-one-millisecond-early',
    'now is one millisecond before validFrom',
    { P4: false, P5: true },
    (s) => {
      s.now = '2026-11-20T10:00:00.999Z';
      s.grant.payload.validFrom = '2026-11-20T10:00:01Z';
    },
  ),
  allow('p05-one-millisecond-left', 'now is one millisecond before validUntil', { P5: true }, (s) => {
    s.now = '2026-11-20T10:00:00.999Z';
    s.grant.payload.validUntil = '2026-11-20T10:00:01Z';
  }),
  deny(
    'GRANT_EXPIRED',
    'p05-valid-until-is-now',
    'validUntil itself is excluded',
    { P4: true, P5: false },
    (s) => {
      s.grant.payload.validUntil = '2026-11-20T10:00:00Z';
    },
  ),
];

const mismatch = (id: string, description: string, edit: VectorCase['edit']): VectorCase =>
  deny(
    'AUTHORITY_REVOKED',
    `p06-${id}`,
    `${description}: the status list is not consulted`,
    { P6: false },
    edit,
  );

const OTHER_LIST = 'https://status.svc.example/acme.example/2';

const ALLOCATION: readonly VectorCase[] = [
  mismatch('not-allocated', 'an id that the service never allocated', (s) => {
    s.answers.allocation = 'absent';
  }),
  mismatch('allocated-to-another-issuer', 'an id allocated to another Principal', (s) => {
    s.allocation.issuer = 'did:web:mallory.example';
  }),
  mismatch('allocated-for-another-agent', 'an id allocated for another Agent', (s) => {
    s.allocation.agent = KEYS.otherAgent.didKey;
  }),
  mismatch('another-status-list', 'a status entry in another list', (s) => {
    s.grant.status = statusEntry(OTHER_LIST, STATUS_INDEX);
  }),
  mismatch('another-status-index', 'a status entry at another index, whose bit is 0', (s) => {
    s.grant.status = statusEntry(STATUS_LISTS.current.url, '94568');
  }),
  mismatch('another-status-id', 'a status entry whose id is not its list and index', (s) => {
    s.grant.status.id = `${STATUS_LISTS.current.url}#94568`;
  }),
];

const STATUS: readonly VectorCase[] = [
  deny('AUTHORITY_REVOKED', 'p06-revoked', 'the bit is 1', { P6: false, P7: true }, (s) => {
    s.status.revoked = true;
    s.status.credential_hash = STATUS_LISTS.revoking.hash;
    s.status.valid_from = STATUS_LISTS.revoking.validFrom;
  }),
  allow('p06-status-30-s-old', 'a list looked at exactly 30 seconds ago', { P6: true }, (s) => {
    s.status.checked_at = '2026-11-20T09:59:30.000Z';
  }),
  allow(
    'p06-status-without-valid-from',
    'a list that does not say since when it is valid',
    { P6: true },
    (s) => {
      s.status.valid_from = null;
    },
  ),
];

const notForUs = (id: string, description: string, audience: readonly string[]): VectorCase =>
  deny('AUDIENCE_MISMATCH', `p07-${id}`, description, { P7: false }, (s) => {
    s.grant.subject.audience = audience;
  });

const AUDIENCE: readonly VectorCase[] = [
  allow('p07-audience-absent', 'no audience: any registered relying party', { P7: true }, (s) => {
    s.grant.subject.audience = undefined;
  }),
  allow('p07-audience-of-several', 'one of several relying parties', { P7: true }, (s) => {
    s.grant.subject.audience = ['did:web:a.example', RP_DID, 'did:web:b.example'];
  }),
  notForUs('another-audience', 'a Grant for another relying party', ['did:web:other.example']),
  notForUs('audience-is-not-a-prefix', 'a DID that the caller begins with, or that begins with the caller', [
    'did:web:shop.exampl',
    `${RP_DID}:eu`,
  ]),
  deny(
    'GRANT_EXPIRED',
    'p05-before-p06-and-p07',
    'expired, revoked and for another: all are reported, the first is the reason',
    { P4: true, P5: false, P6: false, P7: false },
    (s) => {
      s.grant.payload.validUntil = '2026-11-20T09:00:00Z';
      s.answers.allocation = 'absent';
      s.grant.subject.audience = ['did:web:other.example'];
    },
  ),
];

export const grantInForceCases: readonly VectorCase[] = [...VALIDITY, ...ALLOCATION, ...STATUS, ...AUDIENCE];
