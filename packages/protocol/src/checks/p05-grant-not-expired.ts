/** P5: the Grant is still valid; `validUntil` itself is excluded. */
import { formatTimestamp } from '@svc/codec';
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const p05GrantNotExpired = /* @__PURE__ */ defineCheck({
  id: 'P5',
  title: 'now is before validUntil',
  cites: ['interface §Grant', 'protocol §2', 'RFC 3339 §5.6'],
  requires: [p03GrantSignature],
  reasons: ['GRANT_EXPIRED'],
  run: ({ P3: { grant } }, { nowMs }) => demand(nowMs < grant.validUntilMs, 'GRANT_EXPIRED'),
});

export const p05Explained: ExplanationOf<typeof p05GrantNotExpired> = {
  compare: ({ P3: { grant } }, { nowMs }) =>
    one('validUntil', grant.validUntil, `after ${formatTimestamp(nowMs)}`),
};
