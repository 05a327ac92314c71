/** P5: the Grant is still valid; `validUntil` itself is excluded. */
import { defineCheck, demand } from './check.ts';

export const p05GrantNotExpired = /* @__PURE__ */ defineCheck({
  id: 'P5',
  title: 'now is before validUntil',
  requires: ['P3'],
  reasons: ['GRANT_EXPIRED'],
  run: ({ P3: { grant } }, { nowMs }) => demand(nowMs < grant.validUntilMs, 'GRANT_EXPIRED'),
});
