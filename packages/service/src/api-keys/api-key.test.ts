import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ApiKeyRecord, ApiKeyRole } from '../ports/api-keys.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { issueApiKey, parseApiKey } from './api-key.ts';

const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) };

/** A key table in memory. It reports an id as taken as many times as the test says. */
const keyTable = (takenIds = 0) => {
  let left = takenIds;
  const rows: ApiKeyRecord[] = [];
  const apiKeys = {
    findById: async () => (left-- > 0 ? (rows[0] ?? ({} as ApiKeyRecord)) : null),
    insert: async (key: Omit<ApiKeyRecord, 'createdAtMs' | 'revokedAtMs'>) => {
      const row = { ...key, createdAtMs: 0, revokedAtMs: null };
      rows.push(row);
      return row;
    },
  } as unknown as Repositories['apiKeys'];
  return { rows, tx: { apiKeys } };
};

const issue = async (role: ApiKeyRole) => {
  const { tx, rows } = keyTable();
  return { ...(await issueApiKey(tx, random, { role, subject: 'did:web:shop.example', label: null })), rows };
};

describe('an issued API key', () => {
  it.each([
    ['rp', 'dk_rp_'],
    ['principal', 'dk_principal_'],
    ['org:read', 'dk_org_read_'],
    ['org:admin', 'dk_org_admin_'],
    ['observer', 'dk_observer_'],
  ] as const)('of class %s begins with %s and has 43 + 6 base62 characters', async (role, prefix) => {
    const { value } = await issue(role);
    expect(value).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
  });

  it('is stored only as its SHA-256, and its id is the first 12 hex characters of that', async () => {
    const { value, record, rows } = await issue('rp');
    const sha256 = createHash('sha256').update(value).digest('hex');
    expect(record).toMatchObject({ keyHash: sha256, keyId: sha256.slice(0, 12) });
    expect(JSON.stringify(rows)).not.toContain(value);
  });

  it('parses to the fingerprint under which it is stored', async () => {
    const { value, record } = await issue('principal');
    expect(parseApiKey(value)).toEqual({ keyHash: record.keyHash, keyId: record.keyId });
  });
});

it('an API key with any character changed fails the checksum, so it is refused without a look-up', async () => {
  const { value } = await issue('rp');
  for (let i = 'dk_rp_'.length; i < value.length; i++) {
    const changed = value.slice(0, i) + (value[i] === 'x' ? 'y' : 'x') + value.slice(i + 1);
    expect(parseApiKey(changed)).toBeNull();
  }
});

it.each(['', 'dk_rp_', 'dk_rp_short', `dk_foo_${'a'.repeat(49)}`, `dk_rp_${'a'.repeat(48)}-`, 'Bearer x'])(
  'text %j is not an API key',
  (text) => {
    expect(parseApiKey(text)).toBeNull();
  },
);

it('issueApiKey generates again if a key id is taken, and gives up after four attempts', async () => {
  const key = { role: 'rp', subject: 'did:web:shop.example', label: null } as const;
  await expect(issueApiKey(keyTable(3).tx, random, key)).resolves.toMatchObject({ record: { role: 'rp' } });
  await expect(issueApiKey(keyTable(4).tx, random, key)).rejects.toBeInstanceOf(StoreError);
});
