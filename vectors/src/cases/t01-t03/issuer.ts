/** T1 to T3: the issuer is registered and verified, its key not compromised (protocol §7). */
import { ALLOCATED_AT } from '../../scene.ts';
import { allow, deny, type VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [
  deny(
    'ISSUER_UNKNOWN',
    't01-issuer-unknown',
    'the issuer is not registered',
    { T1: false, T2: 'skipped', T3: 'skipped', P2: 'skipped' },
    (s) => {
      s.answers.principal = 'absent';
    },
  ),
  deny(
    'ISSUER_UNVERIFIED',
    't02-issuer-unverified',
    'the Principal has not proved its domain; the Grant is still authenticated and the Receipt says unverified',
    { T1: true, T2: false, P3: true },
    (s) => {
      s.principal.verification = 'unverified';
    },
  ),
  deny(
    'ISSUER_KEY_COMPROMISED',
    't03-key-compromised',
    'a compromised key proves nothing any more',
    { T3: false, P2: 'skipped', P3: 'skipped' },
    (s) => {
      s.principal.key = { state: 'compromised', since: '2026-11-20T09:59:59.999Z' };
    },
  ),
  deny(
    'ISSUER_UNVERIFIED',
    't02-before-t03',
    'unverified and compromised: T2 comes first',
    { T2: false, T3: false },
    (s) => {
      s.principal = { verification: 'unverified', key: { state: 'compromised', since: ALLOCATED_AT } };
    },
  ),
  allow(
    't03-key-never-seen',
    'a key that the service has no record of is judged by the DID document alone',
    { T3: true, P2: true },
    (s) => {
      s.principal.key = null;
    },
  ),
];
