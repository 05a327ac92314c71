/** P9: signatures of the Agent that do not verify (protocol §1). */
import { encodeBase64url, encodeUtf8, formatDidKey } from '@svc/protocol';
import { WEAK_KEYS, withForgedSignature } from '../../edits/weak-keys.ts';
import type { Scene } from '../../scene.ts';
import { KEYS, type TestKey } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const token = (edit: (text: string) => string) => (s: Scene) => {
  s.proof.editToken = edit;
};

/** Sets an Agent whose did:key contains `publicKey`, in the Grant, the allocation and the Proof. */
const weakAgent = (s: Scene, publicKey: Uint8Array): void => {
  const didKey = formatDidKey(publicKey);
  const key: TestKey = { ...KEYS.agent, publicKey, didKey, multikey: didKey.slice('did:key:'.length) };
  s.proof.key = key;
  s.grant.subject.id = didKey;
  s.allocation.agent = didKey;
  withForgedSignature(s.proof, publicKey);
};

const badSignature = (id: string, description: string, edit: (s: Scene) => void): VectorCase =>
  deny(
    'PROOF_SIGNATURE_INVALID',
    `p09-${id}`,
    description,
    { P8: true, P9: false, P10: 'skipped', P11: 'skipped', P12: 'skipped', P13: 'skipped', P14: 'skipped' },
    edit,
  );

export const cases: readonly VectorCase[] = [
  badSignature('another-key', "signed by a key that is not the Agent's", (s) => {
    s.proof.key = { ...KEYS.agent, sign: KEYS.otherAgent.sign };
  }),
  badSignature('payload-changed', 'another nonce after signing', (s) => {
    s.proof.editToken = (text) => {
      const [head = '', body = '', signature = ''] = text.split('.');
      const json = Buffer.from(body, 'base64url').toString().replace('"jti":"d', '"jti":"e');
      return `${head}.${encodeBase64url(encodeUtf8(json))}.${signature}`;
    };
  }),
  badSignature(
    'signature-empty',
    'an empty signature',
    token((t) => t.slice(0, t.lastIndexOf('.') + 1)),
  ),
  ...WEAK_KEYS.map((weak) =>
    badSignature(
      `weak-key-${weak.id}`,
      `an Agent with ${weak.description}, named by the Grant: anybody can make signatures that satisfy the bare equation`,
      (s) => weakAgent(s, weak.publicKey),
    ),
  ),
];
