/** P2: keys that satisfy the bare equation but are refused (protocol §1). */
import { formatDidKey } from '@svc/protocol';
import { signWithTorsion, withTorsion } from '../../edits/signature-forgery.ts';
import { MORE_WEAK_KEYS, withForgedSignature } from '../../edits/weak-keys.ts';
import { type Scene, verificationMethod } from '../../scene.ts';
import { KEYS } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const keyRefused = (id: string, description: string, edit: (scene: Scene) => void): VectorCase =>
  deny('ISSUER_KEY_NOT_FOUND', `p02-${id}`, description, { P2: false, P3: 'skipped' }, edit);

const multikeyOf = (publicKey: Uint8Array) => formatDidKey(publicKey).slice('did:key:'.length);

const useKey = (s: Scene, publicKey: Uint8Array): void => {
  s.document.verificationMethod = [
    verificationMethod(KEYS.principal, { publicKeyMultibase: multikeyOf(publicKey) }),
  ];
};

const SIGN_WITHOUT_X = MORE_WEAK_KEYS.filter(({ id }) => id === 'order-1-sign' || id === 'order-2-sign');

const Y_P_PLUS_3 = new Uint8Array(Buffer.from(`f0${'ff'.repeat(30)}7f`, 'hex'));

export const cases: readonly VectorCase[] = [
  ...SIGN_WITHOUT_X.map((weak) =>
    keyRefused(`weak-key-${weak.id}`, `${weak.description}: x is 0 and has no sign`, (s) => {
      useKey(s, weak.publicKey);
      withForgedSignature(s.grant, weak.publicKey);
    }),
  ),
  keyRefused('key-y-p-plus-3', 'a key of large order encoded as y = p + 3', (s) => useKey(s, Y_P_PLUS_3)),
  keyRefused('key-with-torsion', 'a key of order 8L: the signature satisfies the bare equation', (s) => {
    useKey(s, withTorsion(s.grant.key));
    signWithTorsion(s.grant);
  }),
  keyRefused('method-2018-with-jwk', 'a method type with a publicKeyJwk that would do in another', (s) => {
    const x = Buffer.from(KEYS.principal.publicKey).toString('base64url');
    const publicKeyJwk = { kty: 'OKP', crv: 'Ed25519', x };
    const { publicKeyMultibase: _, ...method } = verificationMethod(KEYS.principal);
    s.document.verificationMethod = [{ ...method, type: 'Ed25519VerificationKey2018', publicKeyJwk }];
  }),
];
