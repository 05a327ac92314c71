/** A subject and an org have a limited number of live keys (protocol §13), over all nodes together. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractCall } from '../world/contract-call.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const MAX = 4;
const deployment = withOwnDeployment({ SVC_MAX_LIVE_KEYS: String(MAX) }, 2);
let orgId: string;
let tenants: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId });
});

const issue = (path: string, key: string, body: object, node = 0) =>
  contractCall((deployment.processes[node] ?? deployment.process).baseUrl, 'POST', path, { key, body });

/** Twelve concurrent calls, on both nodes. */
const burst = async (path: string, key: string, body: object = {}) => {
  const answers = await Promise.all(Array.from({ length: 12 }, (_, i) => issue(path, key, body, i % 2)));
  return answers.map(({ status }) => status).sort();
};
const expected = (issued: number) => [...Array(issued).fill(201), ...Array(12 - issued).fill(400)];

describe('the limit of live keys', () => {
  it.each([
    ['a Principal', () => tenants.principalKey],
    ['a relying party', () => tenants.rpKey],
  ])('of %s holds under concurrent calls on two nodes; revoking a key allows one more', async (_, keyOf) => {
    const key = keyOf();
    expect(await burst('/api-keys', key)).toEqual(expected(MAX - 1));
    const refused = await issue('/api-keys', key, {});
    expect(refused.json).toMatchObject({
      ...{ error: 'INVALID_REQUEST', message: expect.stringContaining(`${MAX} are allowed`) },
    });
    const { keys } = (await deployment.call('GET', '/api-keys', { key })).json as {
      keys: readonly { key_id: string }[];
    };
    expect(keys).toHaveLength(MAX);
    await deployment.call('POST', `/api-keys/${keys[0]?.key_id}/revoke`, { key });
    expect(await burst('/api-keys', key)).toEqual(expected(1));
  });

  it('of an org counts its own keys of both roles, but not the keys of its members', async () => {
    const path = `/orgs/${orgId}/api-keys`;
    expect((await issue(path, ADMIN_TOKEN, { role: 'read' })).status).toBe(201);
    expect(await burst(path, ADMIN_TOKEN, { role: 'admin' })).toEqual(expected(MAX - 1));
  });

  it('of observers holds under concurrent calls on two nodes', async () => {
    expect(await burst('/observer-keys', ADMIN_TOKEN)).toEqual(expected(MAX));
  });
});
