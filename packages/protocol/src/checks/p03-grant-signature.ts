/** P3: the Grant's signature verifies under the key that P2 found. From here on the Grant is authenticated. */
import { defineCheck, deny, pass } from './check.ts';

export const p03GrantSignature = /* @__PURE__ */ defineCheck({
  id: 'P3',
  title: "the Grant's signature verifies",
  requires: ['P2'],
  reasons: ['GRANT_SIGNATURE_INVALID'],
  run: ({ P2: { grant, publicKey } }, { crypto }) =>
    crypto.verify(publicKey, grant.signingInput, grant.signature)
      ? pass({ grant })
      : deny('GRANT_SIGNATURE_INVALID'),
});
