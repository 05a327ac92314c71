/** P4: the Grant is already valid; `validFrom` itself is included. */
import { formatTimestamp } from '@svc/codec';
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const p04GrantBegun = /* @__PURE__ */ defineCheck({
  id: 'P4',
  title: 'validFrom is not after now',
  cites: ['interface §Grant', 'protocol §2', 'RFC 3339 §5.6'],
  requires: [p03GrantSignature],
  reasons: ['GRANT_NOT_YET_VALID'],
  run: ({ P3: { grant } }, { nowMs }) => demand(grant.validFromMs <= nowMs, 'GRANT_NOT_YET_VALID'),
});

export const p04Explained: ExplanationOf<typeof p04GrantBegun> = {
  compare: ({ P3: { grant } }, { nowMs }) =>
    one('validFrom', grant.validFrom, `not after ${formatTimestamp(nowMs)}`),
};
