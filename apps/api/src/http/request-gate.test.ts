import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Route, routes } from '@svc/contract';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Caller } from './caller.ts';
import { Exchange } from './exchange.ts';
import { RATE_LIMITS, type RateLimits } from './rate-limits.ts';
import { RequestGate } from './request-gate.ts';

const REVOKER = 'dk_principal_one';
const revoker = {
  class: 'principal',
  subject: 'did:web:a.example',
  orgId: null,
  keyId: '1'.repeat(12),
} as unknown as Caller;
/** Two members of one org, and one of another org. */
const member = (token: string, orgId: string) =>
  ({ class: 'principal', subject: `did:web:${token}.example`, orgId, keyId: token }) as unknown as Caller;
/** A relying party that another org has registered under the DID of this org's Principal. */
const claimant = {
  ...{ class: 'rp', subject: 'did:web:c.example', keyId: 'd', isNewcomer: false },
  relyingParty: { orgId: 'org_3' },
} as unknown as Caller;
/** A key of a Principal with several, issued at `createdAtMs`. */
const keyOf = (keyId: string, orgId: string | null, createdAtMs = 0) =>
  ({
    ...{ class: 'principal', subject: 'did:web:many.example', orgId, keyId },
    key: { createdAtMs },
  }) as unknown as Caller;
const orgKey = {
  ...{ class: 'org', role: 'admin', subject: 'org_1', keyId: 'orgKey' },
  key: { createdAtMs: 0 },
} as unknown as Caller;
/** The time of every request: a minute after the keys were issued. */
const NOW_MS = 60_000;
const MEMBERS = new Map([
  ['dk_principal_stolen', keyOf('stolen', null)],
  ['dk_principal_own', keyOf('own', null)],
  ['dk_principal_young', keyOf('young', null, 1)],
  ['dk_principal_member', keyOf('member', 'org_1')],
  ['dk_org_admin_one', orgKey],
  ['dk_rp_d', claimant],
  ['dk_principal_a', member('a', 'org_1')],
  ['dk_principal_b', member('b', 'org_1')],
  ['dk_principal_c', member('c', 'org_2')],
]);
const settings = {
  publicBaseUrl: '',
  securityHeaders: [],
  trustProxyHops: 1,
  stalledClientMs: 0,
  isDraining: () => false,
};

const startGate = (limits: Partial<RateLimits> = {}) => {
  const lookedUp: string[] = [];
  const authenticate = async (token: string) => {
    lookedUp.push(token);
    return token === REVOKER ? revoker : (MEMBERS.get(token) ?? null);
  };
  const gate = new RequestGate({ nowMs: () => NOW_MS }, authenticate, { ...RATE_LIMITS, ...limits });
  /** 200, or the status of the refusal. */
  const ask = async (ip: string, token: string, route: Route = routes.getMe): Promise<number> => {
    const headers = { 'x-forwarded-for': ip, authorization: `Bearer ${token}` };
    const request = { headers, socket: {} } as unknown as IncomingMessage;
    const exchange = new Exchange(request, {} as ServerResponse, settings);
    const answered = await gate.admit(route, exchange).catch((problem: { status: number }) => problem);
    return answered !== null && 'status' in answered ? answered.status : 200;
  };
  /** One failure from each of `networks` /64 networks below `prefix`. */
  const flood = async (prefix: string, networks: number) => {
    for (let i = 0; i < networks; i++) await ask(`${prefix}:${i.toString(16)}::1`, 'dk_rp_nobody');
  };
  return { ask, flood, lookedUp };
};

/** A smaller table: 1,000 addresses instead of 100,000, so that fewer networks fill it. */
const countedAddresses = 1_000;

describe('When networks have filled the table of addresses with one failure each', () => {
  it('a valid credential from an address of another network is still accepted', async () => {
    const { ask, flood } = startGate({ countedAddresses, sharedLookUpsPerMinute: 0 });
    await flood('2001:db8:1', 1_100);
    expect(await ask('2001:db8:1:ffff::1', REVOKER)).toBe(429);
    expect(await ask('2001:db8:2::1', 'dk_rp_nobody')).toBe(401);
    expect(await ask('2001:db8:2::1', REVOKER)).toBe(200);
    expect(await ask('198.51.100.7', REVOKER)).toBe(200);
  });

  it('a valid credential from their own network is accepted until a bounded number of look-ups is used up', async () => {
    const { ask, flood, lookedUp } = startGate({ countedAddresses, sharedLookUpsPerMinute: 2 });
    await flood('2001:db8:1', 1_020);
    expect(await ask('2001:db8:1:fffe::1', REVOKER)).toBe(200);
    const before = lookedUp.length;
    for (let i = 0; i < 5; i++) expect(await ask(`2001:db8:1:ff0${i}::1`, 'dk_rp_nobody')).toBe(429);
    expect(lookedUp.length).toBe(before + 1);
  });
});

it('An address whose authentications fail gets 20 look-ups, and then 429 without a look-up', async () => {
  const { ask, lookedUp } = startGate();
  const statuses = [];
  for (let i = 0; i < 30; i++) statuses.push(await ask('198.51.100.7', 'dk_rp_nobody'));
  expect(statuses).toEqual([...Array(20).fill(401), ...Array(10).fill(429)]);
  expect(lookedUp.length).toBe(20);
});

it('The members of an org share a limit in addition to their own limits; other orgs are not affected', async () => {
  const { ask } = startGate({ authenticatedPerMinute: 3, subjectPerMinute: 3, orgPerMinute: 4 });
  const statuses = [];
  for (const name of ['a', 'a', 'b', 'b', 'b', 'a', 'c'])
    statuses.push(await ask('198.51.100.7', `dk_principal_${name}`));
  expect(statuses).toEqual([200, 200, 200, 200, 429, 429, 200]);
});

describe('A relying party under the DID of another customer’s Principal', () => {
  /** Statuses of `count` calls of it, and then of one call of the Principal. */
  const askBeside = async (limits: Partial<RateLimits>, count: number) => {
    const { ask } = startGate(limits);
    const statuses = [];
    for (let i = 0; i < count; i++) statuses.push(await ask('198.51.100.7', 'dk_rp_d'));
    return [...statuses, await ask('198.51.100.7', 'dk_principal_c', routes.revokeGrant)];
  };

  it('uses nothing of the Principal’s limit per minute', async () => {
    expect(await askBeside({ subjectPerMinute: 2 }, 3)).toEqual([200, 200, 429, 200]);
  });

  it('uses nothing of the Principal’s limit of concurrent calls', async () => {
    expect(await askBeside({ subjectAtOnce: 2 }, 3)).toEqual([200, 200, 429, 200]);
  });
});

describe('A key that uses up the limits of its subject', () => {
  /** Statuses of calls with the owner's key, after the stolen one has used up `limits`. */
  const askAfter = async (limits: Partial<RateLimits>, asked: readonly (readonly [string, Route])[]) => {
    const { ask } = startGate(limits);
    for (const route of [routes.getMe, routes.revokeGrant, routes.getMe])
      await ask('198.51.100.7', 'dk_principal_stolen', route);
    const statuses = [];
    for (const [token, route] of asked) statuses.push(await ask('198.51.100.7', `dk_${token}`, route));
    return statuses;
  };
  const { getMe, revokeGrant, revokeApiKey, disableAgent } = routes;

  it.each([
    ['of a minute', { subjectPerMinute: 1, orgPerMinute: 1 }],
    ['at once', { subjectAtOnce: 1, orgAtOnce: 1 }],
  ])('keeps no other key of it from taking authority away (limits %s)', async (_, limits) => {
    const asked = [getMe, revokeGrant, revokeApiKey, disableAgent, getMe];
    const own = asked.map((route) => ['principal_own', route] as const);
    expect(await askAfter(limits, own)).toEqual([429, 200, 200, 200, 429]);
  });

  it.each([
    ['in a minute', { subjectPerMinute: 1, reservedPerMinute: 2 }],
    ['at once', { subjectAtOnce: 1, reservedAtOnce: 2 }],
  ])('bounds what the others may take away beyond them (limits %s)', async (_, limits) => {
    const own = Array.from({ length: 3 }, () => ['principal_own', revokeGrant] as const);
    expect(await askAfter(limits, own)).toEqual([200, 200, 429]);
  });

  it('gains nothing by issuing keys: one that was issued within the last minute is refused with its subject', async () => {
    for (const limits of [{ subjectPerMinute: 1 }, { subjectAtOnce: 1 }])
      expect(await askAfter(limits, [['principal_young', revokeGrant]])).toEqual([429]);
  });
});

it('What members of an org use up keeps no key of the org from taking authority away, and refuses members', async () => {
  for (const limits of [{ orgPerMinute: 1 }, { orgAtOnce: 1 }]) {
    const { ask } = startGate(limits);
    const statuses = [];
    for (const token of ['dk_principal_a', 'dk_principal_member', 'dk_org_admin_one'])
      statuses.push(await ask('198.51.100.7', token, routes.revokeGrant));
    expect(statuses).toEqual([200, 429, 200]);
  }
});

describe('The limit of concurrent verifications', () => {
  afterEach(() => vi.restoreAllMocks());

  type Attack = (gate: RequestGate, exchange: Exchange) => void;
  /**
   * Number of requests that are admitted at once after many requests of `attack`, each answered after a second, and
   * after 2 s of `quickly`: 500 a second, answered at once.
   */
  const letInAfter = async (attack: Attack, quickly: Attack | null = null): Promise<number> => {
    let nowMs = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const rp = {
      ...{ class: 'rp', subject: 'did:web:rp.example', keyId: 'rp', isNewcomer: false },
      relyingParty: { orgId: 'org_1', verifyRateLimitPerMinute: 10_000 },
    } as unknown as Caller;
    const gate = new RequestGate({ nowMs: () => 0 }, async () => rp, RATE_LIMITS);
    const enter = async () => {
      const request = {
        headers: { authorization: 'Bearer dk_rp' },
        socket: {},
      } as unknown as IncomingMessage;
      const exchange = new Exchange(request, {} as ServerResponse, settings);
      await gate.admit(routes.verify, exchange);
      exchange.decisions = 1;
      exchange.decided = { receiptId: 'drc_1', decision: 'ALLOW', reason: null, isRepeat: false };
      return exchange;
    };
    const quick = await enter();
    nowMs += 10;
    quick.leave();
    // Admission learns nothing from a crowd that has just come.
    for (let i = 0; i < 2; i++) {
      const crowd = await Promise.all(Array.from({ length: 16 }, enter));
      nowMs += 800;
      for (const exchange of crowd) {
        attack(gate, exchange);
        exchange.leave();
      }
    }
    const late = await Promise.all(Array.from({ length: 50 }, enter));
    nowMs += 1_000;
    for (const exchange of late) attack(gate, exchange);
    for (const exchange of late) exchange.leave();
    for (let i = 0; quickly !== null && i < 1_000; i++) {
      const exchange = await enter();
      nowMs += 2;
      quickly(gate, exchange);
      exchange.leave();
    }
    let letIn = 0;
    while (letIn < 200 && (await enter().catch(() => null)) !== null) letIn += 1;
    return letIn;
  };

  it('falls when answers are late, but not because of batches or waits for another party’s host', async () => {
    expect(await letInAfter(() => {})).toBe(12);
    expect(await letInAfter((gate, exchange) => gate.countMore(routes.verify, exchange, 49))).toBe(200);
    const waited = (_: RequestGate, exchange: Exchange) => {
      exchange.hasWaitedOnRemote = true;
    };
    expect(await letInAfter(waited)).toBe(200);
  });

  it('rises by decisions, but not by refused calls or calls that decided nothing', async () => {
    const undecided = (exchange: Exchange, statusCode: number) => {
      Object.assign(exchange, { decisions: 0, decided: null });
      exchange.response.statusCode = statusCode;
    };
    const failedItems = (calls: number) => (gate: RequestGate, exchange: Exchange) => {
      undecided(exchange, 200);
      gate.countMore(routes.evaluateAccesses, exchange, calls - 1);
    };
    const late = () => {};
    expect(await letInAfter(late, () => {})).toBeGreaterThan(100);
    for (const quickly of [
      (_: RequestGate, exchange: Exchange) => undecided(exchange, 400),
      failedItems(1),
      failedItems(5),
    ])
      expect(await letInAfter(late, quickly)).toBeLessThan(50);
  });
});
