/** T3: the signing key has not been marked compromised (protocol §7). */
import { defineCheck, demand } from './check.ts';
import { t01IssuerRegistered } from './t01-issuer-registered.ts';

export const t03KeyNotCompromised = /* @__PURE__ */ defineCheck({
  id: 'T3',
  title: 'the kid is not marked compromised',
  cites: ['interface §Key states', 'protocol §7'],
  requires: [t01IssuerRegistered],
  reasons: ['ISSUER_KEY_COMPROMISED'],
  run: ({ T1 }) => demand(T1.key?.state !== 'compromised', 'ISSUER_KEY_COMPROMISED'),
});
