/** P10 to P12: the Proof was made by this Agent, for this Grant and for this relying party (protocol §7). */
import { KEYS } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [
  deny(
    'PROOF_AGENT_MISMATCH',
    'p10-another-agent',
    'a valid Proof by an Agent that the Grant does not name',
    { P9: true, P10: false },
    (s) => {
      s.proof.key = KEYS.otherAgent;
    },
  ),
  deny('PROOF_GRANT_MISMATCH', 'p11-another-grant', 'a Proof made for another Grant', { P11: false }, (s) => {
    s.proof.payload.grant_id = 'urn:svc:grant:01KAKB8WG00000000000000000';
  }),
  deny(
    'PROOF_AUDIENCE_MISMATCH',
    'p12-another-relying-party',
    'a Proof made for another relying party',
    { P12: false },
    (s) => {
      s.proof.payload.aud = 'did:web:other.example';
    },
  ),
  deny(
    'PROOF_AGENT_MISMATCH',
    'p10-to-p13-all-false',
    'the bindings do not hide each other',
    { P10: false, P11: false, P12: false, P13: false },
    (s) => {
      s.proof.key = KEYS.otherAgent;
      s.proof.payload.grant_id = 'urn:svc:grant:01KAKB8WG00000000000000000';
      s.proof.payload.aud = 'did:web:other.example';
      s.proof.payload.iat = 0;
    },
  ),
];
