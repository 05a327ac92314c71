import { decodeMultikey, portableCrypto } from '@svc/codec';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { agentFromJwk, generateAgentKey } from '../src/agent.ts';
import { generatePrincipalKey, signerFromJwk } from '../src/index.ts';
import { KID, principalJwk, testJwk } from './fixtures.ts';

/** RFC 8032 §7.1, test 2. */
const rfc8032 = {
  jwk: {
    kty: 'OKP',
    crv: 'Ed25519',
    d: Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex').toString(
      'base64url',
    ),
    x: Buffer.from('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', 'hex').toString(
      'base64url',
    ),
  } as const,
  signature:
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
};

/** WebCrypto of a runtime that does not support Ed25519. */
const withoutEd25519 = () => {
  const refuse = () => Promise.reject(new DOMException('Unrecognized name', 'NotSupportedError'));
  const { subtle } = globalThis.crypto;
  const digest = subtle.digest.bind(subtle);
  const getRandomValues = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
  vi.stubGlobal('crypto', { getRandomValues, subtle: { digest, generateKey: refuse, importKey: refuse } });
};

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe.each([
  ['WebCrypto', () => undefined],
  ['a WebCrypto without Ed25519', withoutEd25519],
])('with %s', (_, prepare) => {
  it('a generated key makes signatures that its public key verifies', async () => {
    prepare();
    const { privateJwk, publicKeyMultibase, registration } = await generatePrincipalKey({ id: 'key-7' });
    expect(registration).toEqual({ id: 'key-7', publicKeyMultibase });
    const message = Buffer.from('message');
    const signature = await signerFromJwk(privateJwk, KID).sign(message);
    const publicKey = decodeMultikey(publicKeyMultibase);
    expect(publicKey && portableCrypto.verify(publicKey, message, signature)).toBe(true);
  });

  it('a signer makes the signature of the RFC 8032 vector', async () => {
    prepare();
    const signature = await signerFromJwk(rfc8032.jwk, KID).sign(Uint8Array.of(0x72));
    expect(Buffer.from(signature).toString('hex')).toBe(rfc8032.signature);
  });

  it('a JWK whose public and private parts do not match is refused when it signs', async () => {
    prepare();
    const mixed = { ...principalJwk, x: testJwk('other').x };
    await expect(signerFromJwk(mixed, KID).sign(new Uint8Array(1))).rejects.toMatchObject({
      kind: 'invalid-argument',
    });
  });
});

it('a signer signs although an earlier import of its key never ends, as in edge runtimes', async () => {
  const { subtle } = globalThis.crypto;
  const importKey = subtle.importKey.bind(subtle);
  const answers = [() => new Promise<never>(() => {}), importKey];
  const imports = vi.spyOn(subtle, 'importKey');
  imports.mockImplementation(((...given: Parameters<typeof importKey>) =>
    answers.shift()?.(...given)) as typeof importKey);
  const signer = signerFromJwk(rfc8032.jwk, KID);
  void signer.sign(Uint8Array.of(0x72));
  expect(answers).toEqual([importKey]);
  const signature = await signer.sign(Uint8Array.of(0x72));
  expect(Buffer.from(signature).toString('hex')).toBe(rfc8032.signature);
});

describe('keys', () => {
  it('a registration has an id only where one is given', async () => {
    expect(Object.keys((await generatePrincipalKey()).registration)).toEqual(['publicKeyMultibase']);
  });

  it.each<[string, object]>([
    ['another curve', { crv: 'X25519' }],
    ['a short private key', { d: 'AAAA' }],
    ['no private key', { d: undefined }],
    ['padding', { x: `${principalJwk.x}=` }],
    ['a public key of small order', { x: Buffer.from([1, ...Array(31).fill(0)]).toString('base64url') }],
  ])('a JWK with %s is refused, and the message does not show it', (_, change) => {
    const broken = { ...principalJwk, ...change };
    const refused = expect.objectContaining({
      kind: 'invalid-argument',
      message: expect.not.stringContaining(principalJwk.d),
    });
    expect(() => signerFromJwk(broken, KID)).toThrow(refused);
    expect(() => agentFromJwk(broken)).toThrow(refused);
  });

  it.each(['key-1', 'did:web:acme.example', 'did:web:acme.example#', '', undefined])(
    '%j is refused as a kid',
    (kid) => {
      expect(() => signerFromJwk(principalJwk, kid as string)).toThrow(
        expect.objectContaining({ kind: 'invalid-argument' }),
      );
    },
  );

  it.each([undefined, null, 'secret', [principalJwk], 5])('%j is refused as a JWK', (jwk) => {
    const given = jwk as unknown as typeof principalJwk;
    const refused = expect.objectContaining({
      kind: 'invalid-argument',
      message: expect.stringMatching(/^jwk must be .*; given (?!.*secret)/),
    });
    expect(() => signerFromJwk(given, KID)).toThrow(refused);
    expect(() => agentFromJwk(given)).toThrow(refused);
  });

  it('the DID and the kid of an Agent derive from its key', async () => {
    const { did, privateJwk } = await generateAgentKey();
    const agent = agentFromJwk(privateJwk);
    expect(agent.did).toBe(did);
    expect(agent.kid).toBe(`${did}#${did.slice(8)}`);
    expect((await generateAgentKey()).did).not.toBe(did);
  });
});
