/**
 * The Principal's signing key in this browser: brought once, kept nowhere else, and only in a form that cannot be used
 * without its owner. The text that was brought is not kept.
 */
import { isJsonObject, parseStrictJson, type Signer } from '@svc/protocol';
import { type Ed25519PrivateJwk, signerFromJwk } from '@svc/sdk-principal';
import { type KeptKey, writeKeptKey } from './kept-key.ts';
import { askPasskey, createPasskey } from './passkey.ts';

export interface BroughtKey {
  readonly jwk: Ed25519PrivateJwk;
  readonly kid: string;
}

/**
 * Parses a JWK that has its `kid`, or one whose kid is given beside it.
 *
 * @throws Error that says what is wrong
 */
export const parseBroughtKey = (text: string, kid: string): BroughtKey => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value))
    throw new Error('The signing key must be a JWK: {"kty":"OKP","crv":"Ed25519","x":"…","d":"…"}.');
  const jwk = json.value as unknown as Ed25519PrivateJwk;
  const named = typeof json.value.kid === 'string' ? json.value.kid : kid;
  signerFromJwk(jwk, named);
  return { jwk, kid: named };
};

/** Minimum length: the passphrase is the only protection of the key. */
const PASSPHRASE_MIN_CHARS = 14;
/** The number that OWASP recommends for PBKDF2 with SHA-256. */
const ROUNDS = 600_000;

export const keepWithPassphrase = async (brought: BroughtKey, passphrase: string): Promise<KeptKey> => {
  if (passphrase.length < PASSPHRASE_MIN_CHARS)
    throw new Error(`A passphrase must have at least ${PASSPHRASE_MIN_CHARS} characters.`);
  const salt = newSalt();
  const sealed = await seal(brought, await keyOfPassphrase(passphrase, salt));
  return keep(brought, { guard: 'passphrase', kid: brought.kid, salt, ...sealed });
};

/** Uses what the passkey offers: its secret encrypts the key, or it verifies its user before each use of the key. */
export const keepWithPasskey = async (brought: BroughtKey): Promise<KeptKey> => {
  const { kid } = brought;
  const salt = newSalt();
  const { credentialId, secret } = await createPasskey(kid, salt);
  if (secret !== null) {
    const sealed = await seal(brought, await keyOfSecret(secret, salt));
    return keep(brought, { guard: 'passkey', kid, credentialId, salt, ...sealed });
  }
  const { kty, crv, x, d } = brought.jwk;
  const key = await crypto.subtle
    .importKey('jwk', { kty, crv, x, d }, 'Ed25519', false, ['sign'])
    .catch(() => {
      throw new Error('This browser has no Ed25519, and this passkey no secret to give: use a passphrase.');
    });
  return keep(brought, { guard: 'presence', kid, credentialId, key });
};

/** Has the owner unlock the key. The signer works until the page drops it. */
export const unlock = async (kept: KeptKey, passphrase: string): Promise<Signer> => {
  const { kid } = kept;
  if (kept.guard === 'presence') {
    await askPasskey(kept.credentialId, null);
    const sign = async (bytes: Uint8Array) =>
      new Uint8Array(await crypto.subtle.sign('Ed25519', kept.key, new Uint8Array(bytes)));
    return { kid, sign };
  }
  if (kept.guard === 'passphrase')
    return open(kept, await keyOfPassphrase(passphrase, kept.salt), 'This is not the passphrase.');
  const secret = await askPasskey(kept.credentialId, kept.salt);
  if (secret === null) throw new Error('The passkey has not given its secret. Nothing was signed.');
  return open(kept, await keyOfSecret(secret, kept.salt), 'This passkey does not open the key.');
};

/**
 * Keeps a key only if it can sign: one whose halves do not belong together is refused now, not at the first approval.
 */
const keep = async ({ jwk, kid }: BroughtKey, kept: KeptKey): Promise<KeptKey> => {
  await signerFromJwk(jwk, kid).sign(newSalt());
  await writeKeptKey(kept);
  return kept;
};

const newSalt = (): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(32));
const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(new TextEncoder().encode(text));
const AES = { name: 'AES-GCM', length: 256 } as const;

/** The kid is bound into the encryption, so the record cannot be opened under another kid. */
const seal = async ({ jwk: { x, d }, kid }: BroughtKey, key: CryptoKey) => {
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const cipher = { name: AES.name, iv, additionalData: bytesOf(kid) };
  return { iv, sealed: await crypto.subtle.encrypt(cipher, key, bytesOf(JSON.stringify({ x, d }))) };
};

const open = async (
  { kid, iv, sealed }: Extract<KeptKey, { sealed: ArrayBuffer }>,
  key: CryptoKey,
  otherwise: string,
): Promise<Signer> => {
  const cipher = { name: AES.name, iv, additionalData: bytesOf(kid) };
  const opened = await crypto.subtle.decrypt(cipher, key, sealed).catch(() => {
    throw new Error(`${otherwise} Nothing was signed.`);
  });
  const { x, d } = JSON.parse(new TextDecoder().decode(opened)) as { x: string; d: string };
  return signerFromJwk({ kty: 'OKP', crv: 'Ed25519', x, d }, kid);
};

const keyOfPassphrase = async (passphrase: string, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> => {
  const raw = await crypto.subtle.importKey('raw', bytesOf(passphrase.normalize('NFC')), 'PBKDF2', false, [
    'deriveKey',
  ]);
  const how = { name: 'PBKDF2', hash: 'SHA-256', salt, iterations: ROUNDS };
  return crypto.subtle.deriveKey(how, raw, AES, false, ['encrypt', 'decrypt']);
};

const keyOfSecret = async (secret: ArrayBuffer, salt: Uint8Array<ArrayBuffer>): Promise<CryptoKey> => {
  const raw = await crypto.subtle.importKey('raw', secret, 'HKDF', false, ['deriveKey']);
  const how = { name: 'HKDF', hash: 'SHA-256', salt, info: bytesOf('svc signing key') };
  return crypto.subtle.deriveKey(how, raw, AES, false, ['encrypt', 'decrypt']);
};
