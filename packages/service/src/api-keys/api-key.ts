/**
 * API keys (protocol §13): a prefix by class, 43 base62 characters from 256 random bits, and 6 base62 characters of
 * CRC-32 over the text before them. The checksum lets a scanner find a leaked key, and a mistyped key costs no look-up.
 * Storage keeps only the SHA-256.
 */
import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { ApiKeyId } from '@svc/protocol';
import type { ApiKeyRecord, ApiKeyRole } from '../ports/api-keys.ts';
import type { Random } from '../ports/platform.ts';
import { type Repositories, StoreError } from '../ports/store.ts';

const PREFIX: Readonly<Record<ApiKeyRole, string>> = {
  rp: 'dk_rp_',
  principal: 'dk_principal_',
  'org:read': 'dk_org_read_',
  'org:admin': 'dk_org_admin_',
  observer: 'dk_observer_',
};

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_CHARS = 43;
const CHECKSUM_CHARS = 6;
const KEY = new RegExp(
  `^(?:${Object.values(PREFIX).join('|')})[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`,
);

export interface KeyFingerprint {
  /** SHA-256 of the whole key, lower-case hex. */
  readonly keyHash: string;
  /** The first 12 characters of `keyHash`: public. */
  readonly keyId: ApiKeyId;
}

/** The fingerprint of a key that is well formed and has the right checksum, else null. */
export const parseApiKey = (text: string): KeyFingerprint | null => {
  if (!KEY.test(text)) return null;
  const body = text.slice(0, -CHECKSUM_CHARS);
  return checksumOf(body) === text.slice(-CHECKSUM_CHARS) ? fingerprintOf(text) : null;
};

const generateApiKey = (role: ApiKeyRole, random: Random): { readonly value: string } & KeyFingerprint => {
  const body = PREFIX[role] + base62(bigintOf(random.bytes(32)), SECRET_CHARS);
  const value = body + checksumOf(body);
  return { value, ...fingerprintOf(value) };
};

export interface IssuedApiKey {
  readonly record: ApiKeyRecord;
  /** The key itself. Only the answer that issues it contains it. */
  readonly value: string;
}

/** Issues a key inside `tx`; generates again when the 48-bit id is taken. */
export const issueApiKey = async (
  tx: Pick<Repositories, 'apiKeys'>,
  random: Random,
  key: { readonly role: ApiKeyRole; readonly subject: string; readonly label: string | null },
): Promise<IssuedApiKey> => {
  for (let attempt = 0; ; attempt++) {
    const { value, keyHash, keyId } = generateApiKey(key.role, random);
    if ((await tx.apiKeys.findById(keyId)) === null)
      return { value, record: await tx.apiKeys.insert({ ...key, keyHash, keyId }) };
    if (attempt === 3) throw new StoreError('conflict', 'no free API key id in four attempts');
  }
};

const fingerprintOf = (value: string): KeyFingerprint => {
  const keyHash = hash('sha256', value, 'hex');
  return { keyHash, keyId: keyHash.slice(0, 12) as ApiKeyId };
};

const checksumOf = (text: string): string => base62(BigInt(crc32(text)), CHECKSUM_CHARS);

const bigintOf = (bytes: Uint8Array): bigint => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

const base62 = (value: bigint, chars: number): string => {
  let text = '';
  for (let rest = value; text.length < chars; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
};
