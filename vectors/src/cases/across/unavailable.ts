/** What happens when a fact is not available (protocol §7): the check is then neither true nor false. */
import { deny, type VectorCase } from '../../vector-case.ts';

const UNAVAILABLE: readonly VectorCase[] = [
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-principal',
    'the registry does not answer',
    { P1: true, T1: 'skipped', T2: 'skipped', P2: 'skipped', P9: true },
    (s) => {
      s.answers.principal = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-document',
    'the DID document cannot be had',
    { T3: true, P2: 'skipped', P3: 'skipped' },
    (s) => {
      s.answers.document = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-document-of-another',
    "a document with another id is not the issuer's",
    { P2: 'skipped' },
    (s) => {
      s.document.id = 'did:web:mallory.example';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-document-not-strict',
    'a document with a duplicate member is no document',
    { P2: 'skipped' },
    (s) => {
      s.editDocument = (json) => json.replace('{', '{"assertionMethod":[],');
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-document-3601-s-old',
    'a DID document one second over the greatest age',
    { P2: 'skipped' },
    (s) => {
      s.resolvedAt = '2026-11-20T08:59:59.000Z';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-document-1-ms-too-old',
    'a DID document one millisecond over the greatest age',
    { P2: 'skipped' },
    (s) => {
      s.resolvedAt = '2026-11-20T08:59:59.999Z';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-allocation',
    'what was allocated is not known',
    { P3: true, P6: 'skipped', P7: true },
    (s) => {
      s.answers.allocation = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-allocation-of-retired-key',
    'whether a retired key was still in force is not known',
    { P2: 'skipped' },
    (s) => {
      s.principal.key = { state: 'retired', since: '2026-11-20T09:00:00.000Z' };
      s.answers.allocation = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-status',
    'the status list cannot be had',
    { P6: 'skipped', P7: true, P20: true, T5: 'skipped' },
    (s) => {
      s.answers.status = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-status-absent',
    'a status list that is not there says nothing about revocation',
    { P6: 'skipped' },
    (s) => {
      s.answers.status = 'absent';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-status-31-s-old',
    'a status list looked at 31 seconds ago',
    { P6: 'skipped' },
    (s) => {
      s.status.checked_at = '2026-11-20T09:59:29.000Z';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-status-1-ms-too-old',
    'a status list looked at 30.001 seconds ago',
    { P6: 'skipped' },
    (s) => {
      s.status.checked_at = '2026-11-20T09:59:29.999Z';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-status-stale-and-revoked',
    'what a stale list says is not believed either way',
    { P6: 'skipped' },
    (s) => {
      s.status.checked_at = '2026-11-20T09:00:00.000Z';
      s.status.revoked = true;
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-spent',
    'whether the Proof was spent is not known: everything else holds, and it is no ALLOW',
    { P20: true, T5: 'skipped' },
    (s) => {
      s.answers.spent = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-spent-absent',
    'no answer about spending is not the answer no',
    { T5: 'skipped' },
    (s) => {
      s.answers.spent = 'absent';
    },
  ),
];

const PRECEDENCE: readonly VectorCase[] = [
  deny(
    'ISSUER_UNVERIFIED',
    'unavailable-after-false',
    'an earlier false check gives the reason',
    { T2: false, P2: 'skipped' },
    (s) => {
      s.principal.verification = 'unverified';
      s.answers.document = 'unavailable';
    },
  ),
  deny(
    'GRANT_NOT_YET_VALID',
    'unavailable-status-after-false',
    'an earlier false check gives the reason, late in the pipeline too',
    { P4: false, P6: 'skipped' },
    (s) => {
      s.grant.payload.validFrom = '2026-11-20T10:00:01Z';
      s.answers.status = 'unavailable';
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-before-false',
    'a later false check does not take the reason over',
    { P6: 'skipped', P7: false },
    (s) => {
      s.answers.status = 'unavailable';
      s.grant.subject.audience = ['did:web:other.example'];
    },
  ),
  deny(
    'SERVICE_UNAVAILABLE',
    'unavailable-before-malformed',
    'a malformed Proof is reported, but the registry came first',
    { T1: 'skipped', P8: false },
    (s) => {
      s.answers.principal = 'unavailable';
      s.proof.editToken = () => '';
    },
  ),
  deny(
    'GRANT_MALFORMED',
    'unavailable-not-needed',
    'what is unavailable but not needed says nothing',
    { P1: false, T1: 'skipped' },
    (s) => {
      s.grant.editToken = () => '';
      s.answers = {
        principal: 'unavailable',
        document: 'unavailable',
        allocation: 'unavailable',
        status: 'unavailable',
        spent: 'unavailable',
      };
    },
  ),
];

export const cases: readonly VectorCase[] = [...UNAVAILABLE, ...PRECEDENCE];
