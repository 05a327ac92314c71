/** P5: the Grant is still valid; `validUntil` itself is excluded. */
import { defineCheck, demand } from './check.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const p05GrantNotExpired = /* @__PURE__ */ defineCheck({
  id: 'P5',
  title: 'now is before validUntil',
  cites: ['interface §Grant', 'protocol §2', 'RFC 3339 §5.6'],
  requires: [p03GrantSignature],
  reasons: ['GRANT_EXPIRED'],
  run: ({ P3: { grant } }, { nowMs }) => demand(nowMs < grant.validUntilMs, 'GRANT_EXPIRED'),
});
