/**
 * The published test keys of the vectors. Every seed is the SHA-256 of a public label, so anyone can sign with them: a
 * signature shows only that bytes can be reproduced. Only tests may trust these keys.
 */
import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { encodeMultikey, formatDidKey, type Signer } from '@svc/protocol';
import { privateKeyOfSeed } from '@svc/protocol/native';

const SEED_LABEL_PREFIX = 'svc test vector key, not a secret: ';

export interface TestKey {
  readonly label: string;
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly multikey: string;
  readonly didKey: string;
  readonly sign: (bytes: Uint8Array) => Uint8Array;
}

export const testKey = (label: string): TestKey => {
  const seed = createHash('sha256').update(`${SEED_LABEL_PREFIX}${label}`).digest();
  const key = privateKeyOfSeed(seed);
  const publicKey = rawPublicKey(key);
  return {
    label,
    seed,
    publicKey,
    multikey: encodeMultikey(publicKey),
    didKey: formatDidKey(publicKey),
    sign: (bytes) => sign(null, bytes, key),
  };
};

const rawPublicKey = (key: KeyObject): Uint8Array => {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  return new Uint8Array(Buffer.from(x ?? '', 'base64url'));
};

export const KEYS = {
  receipt: testKey('service receipt 1'),
  status: testKey('service status 1'),
  principal: testKey('principal 1'),
  otherPrincipal: testKey('principal 2'),
  agent: testKey('agent 1'),
  otherAgent: testKey('agent 2'),
  /** Its Multikey has a second spelling for some decoders: see `SECOND_SPELLING`. */
  twoSpellings: testKey('agent 531'),
} as const;

/**
 * The Multikey of `KEYS.twoSpellings` with U+0131 for a `1`, the digit zero. A base58 decoder whose table ends at U+00FF
 * may read any character beyond it as zero, and so decode this text to the same key.
 */
export const SECOND_SPELLING = KEYS.twoSpellings.multikey.replace('X1N', 'X\u0131N');

export const SERVICE_DID = 'did:web:svc.example';
export const PRINCIPAL_DID = 'did:web:acme.example';
export const RP_DID = 'did:web:shop.example';
export const RECEIPT_KID = `${SERVICE_DID}#receipt-1`;
export const STATUS_KID = `${SERVICE_DID}#status-1`;
export const PRINCIPAL_KID = `${PRINCIPAL_DID}#key-1`;

export const receiptSigner: Signer = { kid: RECEIPT_KID, sign: KEYS.receipt.sign };

const multikeyMethod = (kid: string, key: TestKey) => ({
  id: kid,
  type: 'Multikey',
  controller: kid.split('#')[0],
  publicKeyMultibase: key.multikey,
});

/** keys.json: the test keys, and the service's DID document with which Receipts and status lists are verified. */
export const keysFile = () => ({
  notice: 'TEST KEYS. The seeds are public. Never trust a signature of one of these keys.',
  seed_rule: `seed = SHA-256(UTF-8("${SEED_LABEL_PREFIX}" + label))`,
  keys: Object.values(KEYS).map((key) => ({
    label: key.label,
    seed_hex: Buffer.from(key.seed).toString('hex'),
    public_key_multibase: key.multikey,
    did_key: key.didKey,
  })),
  service_did_document: {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: SERVICE_DID,
    verificationMethod: [multikeyMethod(RECEIPT_KID, KEYS.receipt), multikeyMethod(STATUS_KID, KEYS.status)],
    assertionMethod: [RECEIPT_KID, STATUS_KID],
  },
});
