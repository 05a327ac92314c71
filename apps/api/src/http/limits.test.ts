import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { exampleBody, examplePath, startService, TOKENS } from '../../test/world/http-fixture.ts';
import type { Caller } from './caller.ts';

const limitOf = (headers: Headers) =>
  ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) => Number(headers.get(name)));

describe('The rate limits', () => {
  const verify = { token: TOKENS.rp, body: { grant: '', proof: '', action: {} } };

  it('count verifications per key at the RP’s own rate, separately from other calls, also for /verify?', async () => {
    const { call, clock } = await startService();
    clock.ms += 48_200;
    const first = await call('POST', '/verify', verify);
    expect(limitOf(first.headers)).toEqual([5, 4, 12]);
    await call('POST', '/verify?', verify);
    for (let i = 0; i < 3; i++) expect((await call('POST', '/verify', verify)).status).toBe(200);
    const over = await call('POST', '/verify', verify);
    expect([over.status, over.json.error, limitOf(over.headers), over.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      [5, 0, 12],
      '12',
    ]);
    expect((await call('POST', '/verify', { ...verify, token: TOKENS.otherRp })).status).toBe(200);
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(200);
    clock.ms += 11_800;
    expect(limitOf((await call('POST', '/verify', verify)).headers)).toEqual([5, 4, 60]);
  });

  it('count other authenticated calls per key, also those refused for their key class', async () => {
    const { call } = await startService({ limits: { authenticatedPerMinute: 2 } });
    expect(limitOf((await call('GET', '/me', { token: TOKENS.rp })).headers)).toEqual([2, 1, 60]);
    expect((await call('POST', '/grants', { token: TOKENS.rp, body: {} })).status).toBe(401);
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(429);
    expect((await call('GET', '/me', { token: TOKENS.principal })).status).toBe(200);
  });

  it('apply to all keys of a subject together, and to all of an org; other subjects are not affected', async () => {
    const { call } = await startService({
      limits: { authenticatedPerMinute: 3, subjectPerMinute: 4, orgPerMinute: 5 },
    });
    const statusOf = async (token: string) => (await call('GET', '/me', { token })).status;
    const subject = [];
    for (const token of [TOKENS.rp, TOKENS.rp, TOKENS.otherRp, TOKENS.otherRp, TOKENS.otherRp, TOKENS.rp])
      subject.push(await statusOf(token));
    expect(subject).toEqual([200, 200, 200, 200, 429, 429]);
    const over = await call('GET', '/me', { token: TOKENS.otherRp });
    expect([limitOf(over.headers), over.headers.get('retry-after')]).toEqual([[4, 0, 60], '60']);
    const org = [];
    for (const token of [TOKENS.orgRead, TOKENS.orgRead, TOKENS.orgAdmin, TOKENS.orgAdmin, TOKENS.orgAdmin])
      org.push(await statusOf(token));
    expect(org).toEqual([200, 200, 200, 200, 429]);
    expect(await statusOf(TOKENS.otherRp)).toBe(429);
    expect(await statusOf(TOKENS.admin)).toBe(401);
  });

  it('allow all keys of a relying party together as many verifications as five of its keys', async () => {
    const callerOf = (keyId: string) =>
      ({
        ...{ class: 'rp', subject: keyId === 'other' ? 'did:web:b.example' : 'did:web:a.example', keyId },
        ...{ isNewcomer: false, relyingParty: { orgId: null, verifyRateLimitPerMinute: 2 } },
      }) as unknown as Caller;
    const { call } = await startService({ deps: { authenticate: async (token) => callerOf(token) } });
    const statusesOf = async (token: string) => {
      const calls = [];
      for (let i = 0; i < 3; i++) calls.push((await call('POST', '/verify', { ...verify, token })).status);
      return calls;
    };
    for (const token of ['one', 'two', 'three', 'four', 'five'])
      expect(await statusesOf(token)).toEqual([200, 200, 429]);
    expect(await statusesOf('six')).toEqual([429, 429, 429]);
    expect(await statusesOf('other')).toEqual([200, 200, 429]);
  });

  it('refuse a key that has used up a limit without a look-up', async () => {
    const { call, authenticated } = await startService({ limits: { authenticatedPerMinute: 2 } });
    for (let i = 0; i < 5; i++) await call('GET', '/me', { token: TOKENS.principal });
    expect(authenticated).toHaveLength(2);
  });

  it('bound the concurrent calls of a subject (429 at once), also after the client of a call has disconnected', async () => {
    const held: (() => void)[] = [];
    const { call, base } = await startService({
      limits: { subjectAtOnce: 1, orgAtOnce: 1 },
      handlers: {
        getMe: () => new Promise((_, reject) => void held.push(() => reject(new Error('ended')))),
      },
    });
    const controller = new AbortController();
    const headers = { authorization: `Bearer ${TOKENS.rp}` };
    const gone = fetch(`${base}/me`, { headers, signal: controller.signal }).catch(() => 'gone');
    while (held.length === 0) await new Promise(setImmediate);
    controller.abort();
    expect(await gone).toBe('gone');
    const refused = await call('GET', '/me', { token: TOKENS.otherRp });
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(refused.json.message).toContain('at once');
    const other = call('GET', '/me', { token: TOKENS.orgRead });
    while (held.length < 2) await new Promise(setImmediate);
    for (const end of held.splice(0)) end();
    expect((await other).status).toBe(500);
    const next = call('GET', '/me', { token: TOKENS.rp });
    while (held.length === 0) await new Promise(setImmediate);
    held[0]?.();
    expect((await next).status).toBe(500);
  });

  it('leave no call counted as under way whose client disconnected while its key was looked up', async () => {
    const caller = { class: 'principal', subject: 'did:web:a.example', orgId: null, keyId: '1'.repeat(12) };
    let answer = () => {};
    const lookedUp = new Promise<Caller>((resolve) => {
      answer = () => resolve(caller as unknown as Caller);
    });
    const { call, port, log } = await startService({
      deps: { authenticate: () => lookedUp },
      limits: { subjectAtOnce: 1 },
    });
    const [id, body] = ['revokeGrant', JSON.stringify(exampleBody('revokeGrant'))] as const;
    const head = `POST ${examplePath(id)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.principal}`;
    connect(port, '127.0.0.1').end(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
    // The line is written when the connection is gone.
    await expect.poll(() => log.join('')).toContain(`"route":"${id}","status":0`);
    answer();
    expect((await call('GET', '/me', { token: TOKENS.principal })).status).toBe(200);
  });

  it('count public calls per address, including unknown paths, 405 and OPTIONS', async () => {
    const { call } = await startService({ limits: { publicPerMinute: 5 } });
    const statuses = [];
    for (const [method, path] of [
      ['GET', '/healthz'],
      ['GET', '/nothing'],
      ['POST', '/healthz'],
      ['OPTIONS', '/verify'],
      ['GET', '/openapi.json'],
      ['GET', '/healthz'],
      ['GET', '/nothing'],
      ['DELETE', '/verify'],
      ['OPTIONS', '/me'],
      ['GET', '/openapi.json'],
    ] as const)
      statuses.push((await call(method, path)).status);
    expect(statuses).toEqual([200, 404, 405, 200, 200, 429, 429, 429, 429, 429]);
  });

  it('count failed authentications per address; beyond the limit no credential is looked up', async () => {
    const { call, authenticated } = await startService({ limits: { failedAuthenticationsPerMinute: 3 } });
    const bad = (i: number) => call('GET', '/me', { token: `dk_rp_bad${i}` });
    expect(limitOf((await bad(1)).headers)).toEqual([3, 2, 60]);
    expect([(await bad(2)).status, (await call('GET', '/me')).status]).toEqual([401, 401]);
    const over = await bad(4);
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '60']);
    expect((await call('GET', '/me')).status).toBe(429);
    expect(authenticated).toEqual(['dk_rp_bad1', 'dk_rp_bad2']);
  });

  it('let a credential that has worked pass despite failures of its address, until it is revoked', async () => {
    const { call, clock, revoked } = await startService({ limits: { failedAuthenticationsPerMinute: 1 } });
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(200);
    expect((await call('GET', '/me', { token: 'dk_rp_bad' })).status).toBe(401);
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(200);
    expect((await call('GET', '/me', { token: TOKENS.principal })).status).toBe(429);
    revoked.add(TOKENS.rp);
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(429);
    clock.ms += 60_000;
    expect((await call('GET', '/me', { token: TOKENS.rp })).status).toBe(401);
    expect((await call('GET', '/me', { token: TOKENS.principal })).status).toBe(429);
  });

  it.each(['Basic abc', 'Bearer', 'Bearer a b', 'Bearer ü', `Bearer ${'a'.repeat(2000)}`, 'dk_rp_one'])(
    'answer Authorization %j with 401 without a look-up',
    async (authorization) => {
      const { raw, authenticated } = await startService();
      expect(
        await raw(
          `GET /me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: ${authorization}\r\n\r\n`,
        ),
      ).toMatch(/^HTTP\/1\.1 401 /);
      expect(authenticated).toEqual([]);
    },
  );
});
