/** `POST /orgs` (interface §Org). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });

describe('POST /orgs', () => {
  it('answers exactly the members of Org', async () => {
    const slug = randomSlug('org');
    const { status, json } = await post('/orgs', { slug, name: 'Ünïted Shöps' });
    expect(status).toBe(201);
    expect(json).toEqual({
      org_id: expect.stringMatching(/^org_[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
      slug,
      name: 'Ünïted Shöps',
      created_at: expect.any(String),
    });
  });

  it('creates a slug once, also for four concurrent calls; the others get 409', async () => {
    const body = { slug: randomSlug('org'), name: 'Acme' };
    const answers = await Promise.all([1, 2, 3, 4].map(() => post('/orgs', body)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409]);
  });

  it.each([
    [{ slug: 'a', name: '' }],
    [{ slug: 'a', name: 'x'.repeat(201) }],
    [{ slug: 'a' }],
    [{ name: 'Acme' }],
    [{ slug: '-a', name: 'Acme' }],
    [{ slug: 'A', name: 'Acme' }],
    [{ slug: 'a'.repeat(64), name: 'Acme' }],
    [{ slug: 'a', name: 'Acme', more: 1 }],
  ])('refuses %j with 400', async (body) => {
    expect((await post('/orgs', body)).status).toBe(400);
  });

  it('accepts a slug of 63 and a name of 200 characters', async () => {
    const slug = `${randomSlug('o')}${'x'.repeat(63)}`.slice(0, 63);
    expect((await post('/orgs', { slug, name: 'x'.repeat(200) })).status).toBe(201);
  });
});
