import { readThirdPartyJson } from '@svc/vectors/src/third-party.ts';
import { expect, it } from 'vitest';
import { parsePresented } from '../src/index.ts';

interface Wycheproof {
  readonly testGroups: readonly { readonly tests: readonly { readonly jws: string }[] }[];
}

it('no JWS of Wycheproof, valid or not, is accepted as a Grant or a Proof', () => {
  const { testGroups } = readThirdPartyJson<Wycheproof>('wycheproof/json_web_signature_test.json');
  const tokens = testGroups.flatMap(({ tests }) => tests.map(({ jws }) => jws));
  expect(tokens.length).toBeGreaterThan(300);
  for (const token of tokens) {
    const { grant, proof } = parsePresented({ grant: token, proof: token, action: null });
    expect(grant.ok || proof.ok).toBe(false);
  }
});
