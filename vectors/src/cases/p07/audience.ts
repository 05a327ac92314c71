/** P7: the audience of the Grant (protocol §2). */
import { RP_DID } from '../../test-keys.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

const notForUs = (id: string, description: string, audience: readonly string[]): VectorCase =>
  deny('AUDIENCE_MISMATCH', `p07-${id}`, description, { P7: false }, (s) => {
    s.grant.subject.audience = audience;
  });

export const cases: readonly VectorCase[] = [
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
