/** P3: the Grant's signature verifies under the key that P2 found. From here on the Grant is authenticated. */
import { defineCheck, deny, pass } from './check.ts';
import { type ExplanationOf, one } from './explained.ts';
import { p02IssuerKeyFound } from './p02-issuer-key-found.ts';

export const p03GrantSignature = /* @__PURE__ */ defineCheck({
  id: 'P3',
  title: "the Grant's signature verifies",
  cites: ['interface §Grant', 'protocol §1', 'RFC 8032 §5.1.7'],
  requires: [p02IssuerKeyFound],
  reasons: ['GRANT_SIGNATURE_INVALID'],
  run: ({ P2: { grant, publicKey } }, { crypto }) =>
    crypto.verify(publicKey, grant.signingInput, grant.signature)
      ? pass({ grant })
      : deny('GRANT_SIGNATURE_INVALID'),
});

export const p03Explained: ExplanationOf<typeof p03GrantSignature> = {
  compare: ({ P2: { grant } }) =>
    one('signature of the Grant', 'does not verify', `a signature by ${grant.kid}`),
};
