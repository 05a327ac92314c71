/** `GET /orgs/{org_id}/api-keys` (interface §Org). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);

describe('GET /orgs/{org_id}/api-keys', () => {
  it('lists the keys of each role without their values, newest first', async () => {
    const id = await createOrg();
    const issued = [];
    for (const [role, label] of [
      ['admin', 'ops'],
      ['read', undefined],
    ] as const) {
      const { status, json } = await post(`/orgs/${id}/api-keys`, { role, ...(label && { label }) });
      expect([status, json]).toEqual([
        201,
        {
          key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
          role: `org:${role}`,
          subject: id,
          label: label ?? null,
          created_at: expect.any(String),
          revoked_at: null,
          api_key: expect.stringMatching(new RegExp(`^dk_org_${role}_[0-9A-Za-z]{49}$`)),
        },
      ]);
      issued.push(json);
    }
    const [admin, read] = issued;
    for (const key of [admin, read].map((one) => String(one?.api_key))) {
      const { json } = await deployment.call('GET', `/orgs/${id}/api-keys`, { key });
      expect(json).toEqual({
        org_id: id,
        keys: [read, admin].map((one) => {
          const { api_key: _, ...shown } = one ?? {};
          return shown;
        }),
      });
    }
  });
});
