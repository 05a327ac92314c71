/**
 * What all routes of self-serve have in common: who may call them, their limits, and deployments without them (protocol
 * §13).
 */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-node.ts';
import type { ContractAnswer } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { HOUR_MS, inOneWindow, times } from '../world/in-one-window.ts';
import {
  OTHER_PROVISION_KEY,
  PROVISION_KEY,
  requestOf,
  SELF_SERVE_ENV,
  type SignUp,
  withSelfServe,
} from '../world/self-serve.ts';

const { deployment, send, signUp } = withSelfServe();
const limited = withOwnDeployment({ ...SELF_SERVE_ENV, SVC_SELF_SERVE_PER_DAY: '40' }, 2);
const without = withOwnDeployment({ SVC_PROVISION_KEYS: PROVISION_KEY });

describe.each(['/starter', '/first-receipt'])('POST /orgs/self-serve%s', (path) => {
  it.each(['did:web:shop.example', `did:web:${DOMAIN}:org:acme`, `did:web:${DOMAIN}:rp:Acme`, 'acme', ''])(
    'is 400 for rp_did %j, which is not a managed relying party of this service',
    async (did) => {
      expect((await send(path, { rp_did: did })).status).toBe(400);
    },
  );

  it('is 404 for a relying party that does not exist or that self-serve did not make, even in an org that it made', async () => {
    const tenant = await signUp();
    const byOperator = await deployment.register('/relying-parties', {
      kind: 'managed',
      slug: randomSlug('r'),
    });
    const second = { kind: 'managed', slug: randomSlug('r') };
    const byTenant = await deployment.register('/relying-parties', second, tenant.org_admin_key);
    for (const did of [
      byOperator.did,
      byTenant.did,
      `did:web:${DOMAIN}:rp:nobody`,
      `did:web:${DOMAIN}:rp:sandbox`,
    ])
      expect([did, (await send(path, { rp_did: did })).status]).toEqual([did, 404]);
  });
});

describe('self-serve allows', () => {
  const seenOf = (answers: readonly ContractAnswer[]) =>
    answers.map(({ status, headers }) => [
      status,
      headers['ratelimit-limit'],
      headers['ratelimit-remaining'],
    ]);

  it('5 sign-ups an hour for each customer address (IPv6: each /64), including failed ones', async () => {
    const answers = await inOneWindow(async () => {
      const prefix = `2001:db8:${Math.floor(Math.random() * 65_535).toString(16)}:1`;
      let host = 0;
      const attempt = (change: SignUp) => send('', requestOf(change), { customer: `${prefix}::${++host}` });
      const all = await times(3, () => attempt({}));
      return [...all, ...(await times(4, () => attempt({ slug: 'sandbox' })))];
    }, HOUR_MS);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 409, 409, 429, 429]);
    const last = answers.at(-1);
    expect([last?.headers['ratelimit-limit'], last?.headers['ratelimit-remaining']]).toEqual(['5', '0']);
    expect(Number(last?.headers['retry-after'])).toBeLessThanOrEqual(3_600);
    expect(last?.json.message).toContain('limit 5 per hour');
    expect((await send('', requestOf())).status).toBe(201);
  });

  it('30 starters and first Receipts together an hour for each relying party', async () => {
    const answers = await inOneWindow(async () => {
      const tenant = await signUp();
      const body = { rp_did: tenant.relying_party.did };
      const all = await times(29, () => send('/starter', body));
      return [...all, ...(await times(2, () => send('/first-receipt', body))), await send('/starter', body)];
    }, HOUR_MS);
    expect(seenOf(answers)).toEqual([
      ...Array.from({ length: 30 }, (_, i) => [200, '30', String(29 - i)]),
      [429, '30', '0'],
      [429, '30', '0'],
    ]);
  });

  it('60 calls a minute for each provision key; two keys valid at the same time are counted separately', async () => {
    const call = (key: string) => send('/starter', { rp_did: 'x' }, { on: limited, node: 1, key });
    const answers: ContractAnswer[] = [];
    while (answers.length < 62) {
      const answer = await call(PROVISION_KEY);
      // A new minute has begun: only the answers since then count.
      if (answer.headers['ratelimit-remaining'] === '59') answers.length = 0;
      answers.push(answer);
    }
    expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(400), 429, 429]);
    expect(seenOf([await call(OTHER_PROVISION_KEY)])).toEqual([[400, '60', '59']]);
  });

  it('a maximum of new orgs a day on all nodes together, also under concurrent sign-ups; failed ones do not count', async () => {
    const before = async () => {
      const { rows } = await limited.sql.query<{ day: string; n: number }>(
        'select day::text, sign_ups as n from self_serve_days order by day desc limit 1',
      );
      return rows[0]?.n ?? 0;
    };
    expect(await before()).toBe(0);
    const slug = randomSlug('taken');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        // Failed calls do not count.
        send('', requestOf(i < 5 ? { slug } : {}), {
          on: limited,
          node: i % 2,
          // The first key is used up on the second node.
          key: i % 2 === 0 ? PROVISION_KEY : OTHER_PROVISION_KEY,
        }),
      ),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    const { rows } = await limited.sql.query('select count(*)::int as n from orgs');
    // Where the day ended meanwhile, a second ceiling applies.
    if (rows[0]?.n > 40) return;
    expect([count(201), count(201) + count(409) + count(429)]).toEqual([40, 50]);
    expect([rows[0]?.n, await before()]).toEqual([40, 40]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json.message).toContain('today');
    expect(Number(refused?.headers['retry-after'])).toBeLessThanOrEqual(86_400);
  });
});

describe('without SVC_SELF_SERVE', () => {
  it.each(['', '/starter', '/first-receipt'])(
    '/orgs/self-serve%s is 404 for the console with every body, and 401 for other callers',
    async (path) => {
      for (const rawBody of ['{', '{}', JSON.stringify(requestOf())]) {
        const options = { key: PROVISION_KEY, rawBody };
        expect((await without.call('POST', `/orgs/self-serve${path}`, options)).status).toBe(404);
      }
      expect((await without.call('POST', `/orgs/self-serve${path}`, { body: {} })).status).toBe(401);
      expect(
        (await without.call('POST', `/orgs/self-serve${path}`, { key: ADMIN_TOKEN, body: {} })).status,
      ).toBe(401);
    },
  );
});
