/** `POST /observer-keys` (interface §API keys and caller identity). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

interface Key {
  readonly key_id: string;
  readonly api_key: string;
}

const post = (path: string, key: string, body?: unknown) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const isLive = async (key: string) => (await deployment.call('GET', '/me', { key })).status === 200;

describe('An observer key', () => {
  const observers = async () =>
    (await deployment.call('GET', '/observer-keys', { key: ADMIN_TOKEN })).json.keys as Key[];

  it('belongs to the service; it is issued, listed without its value, and revoked idempotently', async () => {
    const { status, json } = await post('/observer-keys', ADMIN_TOKEN, { label: 'board' });
    const { api_key: value, ...shown } = json;
    expect([status, shown]).toEqual([
      201,
      {
        key_id: expect.stringMatching(/^[0-9a-f]{12}$/),
        role: 'observer',
        subject: 'did:web:svc.test',
        label: 'board',
        created_at: expect.any(String),
        revoked_at: null,
      },
    ]);
    expect(value).toMatch(/^dk_observer_[0-9A-Za-z]{49}$/);
    expect(await observers()).toContainEqual(shown);
    const revoked = await post(`/observer-keys/${json.key_id}/revoke`, ADMIN_TOKEN);
    expect(revoked.json).toEqual({ key_id: json.key_id, revoked: true, revoked_at: expect.any(String) });
    expect((await post(`/observer-keys/${json.key_id}/revoke`, ADMIN_TOKEN)).json).toEqual(revoked.json);
    expect(await observers()).toContainEqual({ ...shown, revoked_at: revoked.json.revoked_at });
    expect(await isLive(String(value))).toBe(false);
  });
});
