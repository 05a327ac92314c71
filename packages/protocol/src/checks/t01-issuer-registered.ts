/** T1: the Grant names a registered Principal as its issuer (protocol §7). */
import { defineCheck, deny, need, pass, unavailableNow } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p01GrantWellFormed } from './p01-grant-well-formed.ts';

export const t01IssuerRegistered = /* @__PURE__ */ defineCheck({
  id: 'T1',
  title: 'the issuer is a registered Principal',
  cites: ['interface §Principal', 'protocol §7'],
  requires: [p01GrantWellFormed],
  reasons: ['ISSUER_UNKNOWN'],
  run: ({ P1: { grant } }, { facts: { principal } }) => {
    if (principal === undefined) return need({ fact: 'principal', did: grant.issuer, kid: grant.kid });
    if (principal.answer === 'unavailable') return unavailableNow();
    if (principal.answer === 'absent') return deny('ISSUER_UNKNOWN');
    return pass(principal.value);
  },
});

export const t01Explained: ExplanationOf<typeof t01IssuerRegistered> = {
  compare: ({ P1: { grant } }) =>
    one('issuer', grant.issuer, 'a Principal that is registered with this service'),
};
