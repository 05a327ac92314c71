/** T2: the Principal has proved control of its domain (protocol §7, §13). */
import { defineCheck, demand } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { t01IssuerRegistered } from './t01-issuer-registered.ts';

export const t02IssuerVerified = /* @__PURE__ */ defineCheck({
  id: 'T2',
  title: "the Principal's verification state is verified",
  cites: ['interface §Principal', 'protocol §13'],
  requires: [t01IssuerRegistered],
  reasons: ['ISSUER_UNVERIFIED'],
  run: ({ T1 }) => demand(T1.verification === 'verified', 'ISSUER_UNVERIFIED'),
});

export const t02Explained: ExplanationOf<typeof t02IssuerVerified> = {
  compare: ({ T1 }) => one('verification of the issuer', T1.verification, 'verified'),
};
