/** P6: the Grant compared with its allocation, and its bit in the status list (protocol §7, §9). */
import { portableCrypto, sha256Of } from '@svc/protocol';
import { grantToken, purchaseCapability, type Scene, STATUS_INDEX, statusEntry } from '../../scene.ts';
import { STATUS_LISTS } from '../../status-lists.ts';
import { KEYS } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

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

const bind = (scene: Scene): void => {
  scene.allocation.grant_hash = sha256Of(portableCrypto, grantToken(scene));
};

const ONE_GRANT: readonly VectorCase[] = [
  allow('p06-bound-grant', 'the Grant that was allowed first under its id', { P6: true }, bind),
  mismatch(
    'bound-to-another',
    'an id under which a narrower Grant was allowed, signed anew and wider',
    (s) => {
      const { capabilities } = s.grant.subject;
      s.grant.subject.capabilities = [purchaseCapability({ maxAmount: 100 })];
      bind(s);
      s.grant.subject.capabilities = capabilities;
    },
  ),
  mismatch('bound-to-other-bytes', 'the same Grant with another lifetime is another Grant', (s) => {
    bind(s);
    s.grant.payload.validUntil = '2026-12-20T08:00:01Z';
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

export const cases: readonly VectorCase[] = [...ALLOCATION, ...ONE_GRANT, ...STATUS];
