/** P3: signatures that do not verify (protocol §1). */
import { decodeBase64url, encodeBase64url } from '@svc/protocol';
import { KEYS } from '../../test-keys.ts';
import { deny, type VectorCase } from '../../vector-case.ts';

const editSignature = (token: string, edit: (signature: Uint8Array) => Uint8Array): string => {
  const at = token.lastIndexOf('.') + 1;
  return token.slice(0, at) + encodeBase64url(edit(decodeBase64url(token.slice(at)) ?? new Uint8Array()));
};

/** S + L satisfies the same equation but is another signature. RFC 8032 requires S < L. */
const addGroupOrder = (signature: Uint8Array): Uint8Array => {
  const order = Buffer.from('edd3f55c1a631258d69cf7a2def9de14', 'hex');
  const result = Uint8Array.from(signature);
  let carry = 0;
  for (let i = 0; i < 32; i++) {
    const sum = (result[32 + i] ?? 0) + (order[i] ?? (i === 31 ? 0x10 : 0)) + carry;
    result[32 + i] = sum & 0xff;
    carry = sum >> 8;
  }
  return result;
};

const badSignature = (id: string, description: string, edit: VectorCase['edit']): VectorCase =>
  deny(
    'GRANT_SIGNATURE_INVALID',
    `p03-${id}`,
    description,
    {
      P2: true,
      P3: false,
      P4: 'skipped',
      P5: 'skipped',
      P6: 'skipped',
      P7: 'skipped',
      P10: 'skipped',
      P11: 'skipped',
      P16: 'skipped',
    },
    edit,
  );

export const cases: readonly VectorCase[] = [
  badSignature('another-key', 'signed by a key that is not the one named', (s) => {
    s.grant.key = KEYS.otherPrincipal;
  }),
  badSignature('payload-changed', 'a ceiling raised after signing', (s) => {
    s.grant.editToken = (token) => {
      const [header = '', payload = '', signature = ''] = token.split('.');
      const json = Buffer.from(payload, 'base64url').toString().replace(':50000', ':90000');
      return `${header}.${Buffer.from(json).toString('base64url')}.${signature}`;
    };
  }),
  badSignature('signature-empty', 'an empty signature', (s) => {
    s.grant.editToken = (token) => editSignature(token, () => new Uint8Array());
  }),
  badSignature('signature-zero', 'a signature of zeros', (s) => {
    s.grant.editToken = (token) => editSignature(token, () => new Uint8Array(64));
  }),
  badSignature('signature-one-bit', 'one bit of R changed', (s) => {
    s.grant.editToken = (token) => editSignature(token, (bytes) => bytes.with(0, (bytes[0] ?? 0) ^ 1));
  }),
  badSignature('signature-malleated', 'S + L in the place of S', (s) => {
    s.grant.editToken = (token) => editSignature(token, addGroupOrder);
  }),
];
