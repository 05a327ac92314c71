/**
 * Receipts for the tests of the pages: bodies of the published vectors, signed by a service with keys from fixed seeds.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { encodeMultikey, type ReceiptBody, type Signer, signCompactJws } from '@svc/protocol';
import { privateKeyOfSeed } from '@svc/protocol/native';
import { type Receipt, signReceipt } from '@svc/receipts';

export const SERVICE = 'did:web:svc.test';

const keyOf = (seed: number): KeyObject => privateKeyOfSeed(Buffer.alloc(32, seed));

export const signerOf = (seed: number, kid = `${SERVICE}#receipt-1`): Signer => ({
  kid,
  sign: (bytes) => new Uint8Array(sign(null, bytes, keyOf(seed))),
});

const multikeyOf = (seed: number): string =>
  encodeMultikey(
    new Uint8Array(Buffer.from(createPublicKey(keyOf(seed)).export({ format: 'jwk' }).x ?? '', 'base64url')),
  );

const METHODS = Object.entries({ 'receipt-1': 1, 'status-1': 2 }).map(([fragment, seed]) => ({
  id: `${SERVICE}#${fragment}`,
  type: 'Multikey',
  controller: SERVICE,
  publicKeyMultibase: multikeyOf(seed),
}));

export const serviceDocument = {
  '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
  id: SERVICE,
  verificationMethod: METHODS,
  assertionMethod: METHODS.map(({ id }) => id),
};

/** A document of the service by name, with the key of seed 9 in place of the one that signs Receipts. */
export const forgedDocument = {
  ...serviceDocument,
  verificationMethod: METHODS.map((method) =>
    method.id.endsWith('#receipt-1') ? { ...method, publicKeyMultibase: multikeyOf(9) } : method,
  ),
};

export const bodyOf = (vector: string): ReceiptBody =>
  JSON.parse(readFileSync(new URL(`../../../../vectors/evaluate/${vector}.json`, import.meta.url), 'utf8'))
    .expected.body;

/** Signs a body after `change`, as a faulty service could. */
export const signedReceipt = async (
  body: ReceiptBody,
  change: (draft: Draft) => void = () => {},
  signer: Signer = signerOf(1),
): Promise<Receipt> => {
  const draft = structuredClone(body) as unknown as Draft;
  change(draft);
  return JSON.parse((await signReceipt(draft as unknown as ReceiptBody, signer)).text);
};

/** The Receipt under another protected header. */
export const withHeader = async (receipt: Receipt, typ: string, kid?: string): Promise<Receipt> => {
  const { receipt: _, ...body } = receipt;
  return { ...receipt, receipt: await signCompactJws(signerOf(1, kid), { typ }, body as never) };
};

/** A Receipt in which any value may be set anywhere. */
// biome-ignore lint/suspicious/noExplicitAny: that is what it is for
export type Draft = any;
