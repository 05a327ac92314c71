/** `POST /orgs/{org_id}/api-keys` (interface §Org). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);

beforeAll(async () => {
  orgId = await createOrg();
});

describe('POST /orgs/{org_id}/api-keys', () => {
  it.each([
    [{}],
    [{ role: 'org:read' }],
    [{ role: 'read', label: 'x'.repeat(101) }],
    [{ role: 'read', label: null }],
  ])('refuses %j with 400', async (body) => {
    expect((await post(`/orgs/${orgId}/api-keys`, body)).status).toBe(400);
  });

  it('accepts a label of 100 characters', async () => {
    const label = '🔑'.repeat(100);
    expect((await post(`/orgs/${orgId}/api-keys`, { role: 'read', label })).json.label).toBe(label);
  });
});
