/**
 * Credentials (interface §Authentication) beyond the access matrix: what is not a credential, when a revocation takes
 * effect, and where the class of a key comes from.
 */
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let tenants: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId });
});

describe('the Authorization header', () => {
  it.each([
    ['another scheme', (key: string) => `Basic ${key}`],
    ['no scheme', (key: string) => key],
    ['two keys', (key: string) => `Bearer ${key} ${key}`],
    ['a key in other letters', (key: string) => `Bearer ${key.toUpperCase()}`],
    ['a key and a character more', (key: string) => `Bearer ${key}0`],
    ['a key whose last character is another', (key: string) => `Bearer ${lastCharacterChanged(key)}`],
    ['the prefix alone', () => 'Bearer dk_rp_'],
    ['random text of the right length', () => `Bearer dk_rp_${randomBytes(24).toString('hex')}a`],
    ['the operator’s token and a character more', () => `Bearer ${ADMIN_TOKEN}x`],
    ['nothing', () => ''],
  ])('with %s is refused with 401', async (_, authorization) => {
    const { status, json } = await deployment.call('GET', '/me', {
      headers: { authorization: authorization(tenants.rpKey) },
    });
    expect([status, json]).toEqual([401, { error: 'UNAUTHORIZED', message: expect.any(String) }]);
  });

  it('is accepted with the scheme in lower case', async () => {
    const headers = { authorization: `bearer ${tenants.rpKey}` };
    expect((await deployment.call('GET', '/me', { headers })).status).toBe(200);
  });
});

const lastCharacterChanged = (key: string) => `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;

describe('a revoked key is refused from the moment of the revocation', () => {
  it.each(['rp', 'principal', 'org:read', 'org:admin', 'observer'] as const)('%s', async (role) => {
    const subjects = { rp: tenants.rpDid, principal: tenants.principalDid, observer: 'did:web:svc.test' };
    const key = await deployment.createKey(role, role.startsWith('org') ? orgId : subjects[role as 'rp']);
    expect((await deployment.call('GET', '/me', { key })).status).toBe(200);
    await deployment.revokeKey(key);
    expect((await deployment.call('GET', '/me', { key })).status).toBe(401);
  });
});

it('the class of a key comes from its stored row, not from its prefix', async () => {
  const key = await deployment.createKey('principal', tenants.principalDid);
  await deployment.sql.query(
    `update api_keys set role = 'rp', subject = $1 where subject = $2 and key_id = $3`,
    [tenants.rpDid, tenants.principalDid, (await deployment.call('GET', '/me', { key })).json.key_id],
  );
  expect((await deployment.call('GET', '/me', { key })).json).toMatchObject({
    role: 'rp',
    subject: tenants.rpDid,
  });
});

it('a new key of a subject does not invalidate the old one', async () => {
  const second = await deployment.createKey('principal', tenants.principalDid);
  for (const key of [second, tenants.principalKey])
    expect((await deployment.call('GET', '/me', { key })).json).toMatchObject({
      subject: tenants.principalDid,
    });
});
