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

describe('one signature for all', () => {
  it('covers all 14 encodings of the points whose order divides 8', () => {
    expect(new Set(keys.map(({ publicKey }) => encodeBase64url(publicKey))).size).toBe(14);
  });

  it('is a real forgery: a verifier that only checks the equation accepts it', () => {
    const accepted = keys.filter(({ publicKey }) => {
      const { grant } = inputOf('forgery', principalForgery(publicKey, {}));
      return satisfiesEquation(publicKey, encodeUtf8(signingInputOf(grant)), FORGED_SIGNATURE);
    });
    expect(accepted).toEqual(keys);
  });

  it.each(keys)("$description as the Principal's key is no key", ({ publicKey }) => {
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
  });

  it.each(keys)("$description as the Agent's did:key proves nothing", ({ publicKey }) => {
    const input = inputOf('forgery', agentForgery(publicKey));
    for (const crypto of ports) {
      const { decision, reason, protocol } = evaluateJson(input, crypto);
      expect([decision, reason, protocol.checks.P9]).toEqual(['DENY', 'PROOF_SIGNATURE_INVALID', false]);
    }
  });

  it.each(keys)('$description never verifies, whatever the message and the signature', ({ publicKey }) => {
    for (const crypto of ports) {
      expect(crypto.isStrictKey(publicKey)).toBe(false);
      for (let i = 0; i < 64; i++) {
        expect(crypto.verify(publicKey, `message ${i}`, FORGED_SIGNATURE)).toBe(false);
        expect(crypto.verify(publicKey, `message ${i}`, new Uint8Array(64))).toBe(false);
      }
    }
  });

  it('the encodings do reach the verifier: each is a well-formed did:key', () => {
    for (const { publicKey } of keys)
      expect(parseDidKey(formatDidKey(publicKey))?.publicKey).toEqual(publicKey);
  });
});
