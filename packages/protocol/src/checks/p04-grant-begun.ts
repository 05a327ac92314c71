/** P4: the Grant is already valid; `validFrom` itself is included. */
import { defineCheck, demand } from './check.ts';

export const p04GrantBegun = /* @__PURE__ */ defineCheck({
  id: 'P4',
  title: 'validFrom is not after now',
  requires: ['P3'],
  reasons: ['GRANT_NOT_YET_VALID'],
  run: ({ P3: { grant } }, { nowMs }) => demand(grant.validFromMs <= nowMs, 'GRANT_NOT_YET_VALID'),
});
