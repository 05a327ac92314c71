/** Limits (interface §Limits) on a real process. Tests with a clock that they set cover a window over time. */
import { sampled } from '@svc/testkit/sampled';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ContractAnswer, freshAddress } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { inOneWindow, times } from '../world/in-one-window.ts';
import type { Tenants } from '../world/tenants.ts';

/** Calls of all keys of a subject in a minute. */
const PER_SUBJECT = sampled({ quick: 150, deep: 600 });
const deployment = withOwnDeployment({ SVC_SUBJECT_PER_MINUTE: String(PER_SUBJECT) });
const WINDOW_MS = 60_000;
const DENIED = { grant: '', proof: '', action: {} };
let tenants: Tenants;

beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 7 } });
});

const orgAdminKey = async () => deployment.createKey('org:admin', await deployment.createOrg());

/** `limit` calls pass while the remaining count runs down to 0; the next are answered 429 with the time to retry. */
const expectLimit = (answers: readonly ContractAnswer[], limit: number, passing: number) => {
  expect(answers.map(({ status }) => status)).toEqual(answers.map((_, i) => (i < limit ? passing : 429)));
  for (const [i, { headers, json }] of answers.entries()) {
    expect(headers['ratelimit-limit']).toBe(String(limit));
    expect(headers['ratelimit-remaining']).toBe(String(Math.max(0, limit - i - 1)));
    if (i < limit) continue;
    expect(json.error).toBe('RATE_LIMITED');
    expect(headers['retry-after']).toBe(headers['ratelimit-reset']);
  }
};

describe('each limit answers 429 to the first call above it', () => {
  it('/verify: the limit of the relying party for each key, including calls with an invalid envelope', async () => {
    const answers = await inOneWindow(async () => {
      const key = await deployment.createKey('rp', tenants.rpDid);
      return times(9, () => deployment.call('POST', '/verify', { key, body: DENIED }));
    });
    expectLimit(answers, 7, 200);
  });

  it('other authenticated calls: 120 a minute for each key, over all routes together', async () => {
    const answers = await inOneWindow(async () => {
      const key = await deployment.createKey('principal', tenants.principalDid);
      const all = await times(60, () => deployment.call('GET', '/me', { key }));
      all.push(...(await times(60, () => deployment.call('GET', '/grants', { key }))));
      return [...all, ...(await times(3, () => deployment.call('GET', '/me', { key })))];
    });
    expectLimit(answers, 120, 200);
  });

  it('public calls: 300 a minute for each address; another address is not affected', async () => {
    let other: ContractAnswer | undefined;
    const answers = await inOneWindow(async () => {
      const ip = freshAddress();
      const all = await times(302, () => deployment.call('GET', '/.well-known/did.json', { ip }));
      other = await deployment.call('GET', '/.well-known/did.json');
      return all;
    });
    expectLimit(answers, 300, 200);
    expect(other?.status).toBe(200);
  });

  it('failed authentications: 20 a minute for each address; a key that worked before is still accepted from there', async () => {
    let working: ContractAnswer | undefined;
    const answers = await inOneWindow(async () => {
      const ip = freshAddress();
      const key = await deployment.createKey('principal', tenants.principalDid);
      await deployment.call('GET', '/me', { key });
      const all = await times(22, () => deployment.call('GET', '/me', { ip, key: 'dk_rp_nobody' }));
      working = await deployment.call('GET', '/me', { ip, key });
      return all;
    });
    expectLimit(answers, 20, 401);
    expect(working?.status).toBe(200);
  });
});

describe('limits count separately', () => {
  it('for a Principal and a relying party of another org with the same DID: calls of one do not block a revocation by the other', async () => {
    const [owner, other] = [await orgAdminKey(), await orgAdminKey()];
    const agent = tenants.agent.did;
    let revoked: ContractAnswer | undefined;
    const answers = await inOneWindow(async () => {
      const hosted = { kind: 'hosted', did: `did:web:${randomSlug('p')}.example` } as const;
      const principal = await deployment.register('/principals', hosted, owner);
      const allocated = await deployment.call('POST', '/grants', { key: principal.key, body: { agent } });
      const keys = [(await deployment.register('/relying-parties', hosted, other)).key];
      for (let i = 0; i < 5; i++) keys.push(await deployment.createKey('rp', hosted.did));
      const all = [];
      for (const key of keys)
        all.push(...(await times(PER_SUBJECT / 6 + 1, () => deployment.call('GET', '/me', { key }))));
      const body = { grant_id: allocated.json.id };
      revoked = await deployment.call('POST', '/revoke', { key: principal.key, body });
      return all;
    });
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(PER_SUBJECT);
    expect(answers.at(-1)?.status).toBe(429);
    expect(revoked).toMatchObject({ status: 200, json: { revoked: true } });
  });

  it('for each key, for /verify and other calls of a key, and for public calls of an address', async () => {
    const others = await inOneWindow(async () => {
      const { rpDid, rpKey } = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 7 } });
      const two = await deployment.createKey('rp', rpDid);
      const ip = freshAddress();
      await times(7, () => deployment.call('POST', '/verify', { key: rpKey, ip, body: DENIED }));
      return [
        await deployment.call('POST', '/verify', { key: two, ip, body: DENIED }),
        await deployment.call('GET', '/me', { key: rpKey, ip }),
        await deployment.call('GET', '/healthz', { ip }),
      ];
    });
    expect(others.map(({ headers }) => headers['ratelimit-remaining'])).toEqual(['6', '119', '299']);
  });

  it('for pages; unknown paths and refused methods count as public calls', async () => {
    const answers = await inOneWindow(async () => {
      const ip = freshAddress();
      const all = [];
      for (const [method, path] of [
        ['GET', '/nothing'],
        ['POST', '/healthz'],
        ['OPTIONS', '/verify'],
        ['GET', '/docs'],
        ['GET', '/evidence/%'],
      ] as const)
        all.push(await deployment.call(method, path, { ip }));
      return all;
    });
    expect(answers.map(({ headers }) => headers['ratelimit-remaining'])).toEqual([
      '299',
      '298',
      '297',
      '299',
      '296',
    ]);
  });
});

it('windows end with the minute of the clock, and RateLimit-Reset is the number of seconds until then', async () => {
  const secondsLeft = () => Math.ceil((WINDOW_MS - (Date.now() % WINDOW_MS)) / 1000);
  let before = 0;
  let after = 0;
  const [answer] = await inOneWindow(async () => {
    before = secondsLeft();
    const answers = [await deployment.call('GET', '/healthz')];
    after = secondsLeft();
    return answers;
  });
  const reset = Number(answer?.headers['ratelimit-reset']);
  expect([reset <= before, reset >= after]).toEqual([true, true]);
});
