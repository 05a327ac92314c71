/** T3: the signing key has not been marked compromised (protocol §7). */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { t01IssuerRegistered } from './t01-issuer-registered.ts';

export const t03KeyNotCompromised = /* @__PURE__ */ defineCheck({
  id: 'T3',
  title: 'the kid is not marked compromised',
  cites: ['interface §Key states', 'protocol §7'],
  requires: [t01IssuerRegistered],
  reasons: ['ISSUER_KEY_COMPROMISED'],
  run: ({ T1 }) => demand(T1.key?.state !== 'compromised', 'ISSUER_KEY_COMPROMISED'),
});

export const t03Explained: ExplanationOf<typeof t03KeyNotCompromised> = {
  // The Grant is well formed: T1 requires P1.
  compare: (_, { presented: { grant } }) =>
    one('kid of the Grant', grant.ok ? grant.value.kid : null, 'a key that is not marked compromised'),
};
