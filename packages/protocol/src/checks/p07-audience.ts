/** P7: the Grant's audience names this relying party, or the Grant has no audience. */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p03GrantSignature } from './p03-grant-signature.ts';

export const p07Audience = /* @__PURE__ */ defineCheck({
  id: 'P7',
  title: 'audience is absent or contains the calling relying party',
  cites: ['interface §Grant', 'protocol §2'],
  requires: [p03GrantSignature],
  reasons: ['AUDIENCE_MISMATCH'],
  run: ({ P3: { grant } }, { relyingParty }) =>
    demand(grant.audience === null || grant.audience.includes(relyingParty.did), 'AUDIENCE_MISMATCH'),
});

export const p07Explained: ExplanationOf<typeof p07Audience> = {
  compare: ({ P3: { grant } }, { relyingParty }) => one('audience', grant.audience, relyingParty.did),
};
