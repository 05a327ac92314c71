/**
 * With a public key of small order, one constant signature verifies every message that is suitably varied. The test
 * makes this forgery, and shows that it satisfies a verifier that only checks the equation.
 */

import { satisfiesEquation } from '@svc/testkit/edwards';
import {
  FORGED_SIGNATURE,
  MORE_WEAK_KEYS,
  WEAK_KEYS,
  withForgedSignature,
} from '@svc/vectors/src/edits/weak-keys.ts';
import { honestScene, inputOf, type Scene, verificationMethod } from '@svc/vectors/src/scene.ts';
import { KEYS } from '@svc/vectors/src/test-keys.ts';
import { describe, expect, it } from 'vitest';
import {
  encodeBase64url,
  encodeUtf8,
  evaluateJson,
  formatDidKey,
  parseDidKey,
  portableCrypto,
} from '../src/index.ts';
import { nativeCrypto } from '../src/native.ts';

const keys = [...WEAK_KEYS, ...MORE_WEAK_KEYS];
const ports = [portableCrypto, nativeCrypto];
const signingInputOf = (token: string) => token.slice(0, token.lastIndexOf('.'));

const principalForgery = (publicKey: Uint8Array, method: Record<string, unknown>): Scene => {
  const scene = honestScene();
  scene.document.verificationMethod = [verificationMethod(KEYS.principal, method)];
  withForgedSignature(scene.grant, publicKey);
  return scene;
};

const agentForgery = (publicKey: Uint8Array): Scene => {
  const scene = honestScene();
  const didKey = formatDidKey(publicKey);
  scene.proof.key = { ...KEYS.agent, didKey, multikey: didKey.slice('did:key:'.length) };
  scene.grant.subject.id = didKey;
  scene.allocation.agent = didKey;
  withForgedSignature(scene.proof, publicKey);
  return scene;
};

describe('the forged signature that fits every message under a key of small order', () => {
  it('is tested with all 14 encodings of the points whose order divides 8', () => {
    expect(new Set(keys.map(({ publicKey }) => encodeBase64url(publicKey))).size).toBe(14);
  });

  it('is accepted by a verifier that only checks the equation', () => {
    const accepted = keys.filter(({ publicKey }) => {
      const { grant } = inputOf('forgery', principalForgery(publicKey, {}));
      return satisfiesEquation(publicKey, encodeUtf8(signingInputOf(grant)), FORGED_SIGNATURE);
    });
    expect(accepted).toEqual(keys);
  });

  it.each(keys)(
    "is denied with ISSUER_KEY_NOT_FOUND if the Principal's key is $description",
    ({ publicKey }) => {
      const multikey = { publicKeyMultibase: formatDidKey(publicKey).slice('did:key:'.length) };
      const jwk = {
        type: 'JsonWebKey',
        publicKeyJwk: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(publicKey) },
      };
      for (const method of [multikey, jwk]) {
        const input = inputOf('forgery', principalForgery(publicKey, method));
        for (const crypto of ports) {
          const { decision, reason, protocol } = evaluateJson(input, crypto);
          expect([decision, reason, protocol.checks.P3]).toEqual(['DENY', 'ISSUER_KEY_NOT_FOUND', 'skipped']);
        }
      }
    },
  );

  it.each(keys)(
    "is denied with PROOF_SIGNATURE_INVALID if the Agent's did:key is $description",
    ({ publicKey }) => {
      const input = inputOf('forgery', agentForgery(publicKey));
      for (const crypto of ports) {
        const { decision, reason, protocol } = evaluateJson(input, crypto);
        expect([decision, reason, protocol.checks.P9]).toEqual(['DENY', 'PROOF_SIGNATURE_INVALID', false]);
      }
    },
  );

  it.each(keys)('does not verify for any of 64 messages if the key is $description', ({ publicKey }) => {
    for (const crypto of ports) {
      expect(crypto.isStrictKey(publicKey)).toBe(false);
      for (let i = 0; i < 64; i++) {
        expect(crypto.verify(publicKey, `message ${i}`, FORGED_SIGNATURE)).toBe(false);
        expect(crypto.verify(publicKey, `message ${i}`, new Uint8Array(64))).toBe(false);
      }
    }
  });

  it('is tested with keys that are well-formed as did:key', () => {
    for (const { publicKey } of keys)
      expect(parseDidKey(formatDidKey(publicKey))?.publicKey).toEqual(publicKey);
  });
});
