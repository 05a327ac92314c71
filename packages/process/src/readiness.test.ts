import { HOLD_NAMES, type Hold } from '@svc/service';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createServiceReadiness } from './readiness.ts';

const identityOf = (findFault?: () => string | null) => ({
  statusKeys: {
    signer: { kid: '', sign: () => new Uint8Array(64), ...(findFault === undefined ? {} : { findFault }) },
    published: [],
  },
});

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('storage that does not answer is told within a second, however many ask', async () => {
  const describeHealth = vi.fn(() => new Promise<string>(() => {}));
  const readiness = createServiceReadiness({
    service: {
      store: { describeHealth, describeReplica: () => null },
      holds: { list: () => [] },
      identity: identityOf(),
    },
    fence: null,
    standby: null,
  });
  const asked = Promise.all([readiness(), readiness()]);
  await vi.advanceTimersByTimeAsync(1_000);
  for (const { ok, serves, checks } of await asked)
    expect([ok, serves, checks.storage]).toEqual([false, false, 'no answer within 800 ms']);
  expect(describeHealth).toHaveBeenCalledTimes(1);
});

it('a status signer outside of the process that is away is told, and keeps no decision away', async () => {
  const checksWith = async (findFault?: () => string | null) =>
    createServiceReadiness({
      service: {
        store: { describeHealth: async () => 'ok', describeReplica: () => null },
        holds: { list: () => [] },
        identity: identityOf(findFault),
      },
      fence: null,
      standby: null,
    })();
  expect((await checksWith()).checks).not.toHaveProperty('status-signer');
  expect(await checksWith(() => null)).toMatchObject({ ok: true, checks: { 'status-signer': 'ok' } });
  const away = await checksWith(() => 'token svc: no such token is there');
  expect(away).toMatchObject({ ok: true });
  expect(away.checks['status-signer']).toBe('token svc: no such token is there');
});

it('a promised standby that is missing is told, and keeps no decision away', async () => {
  const checksWith = async (standby: { describe(): Promise<string> } | null) =>
    createServiceReadiness({
      service: {
        store: { describeHealth: async () => 'ok', describeReplica: () => null },
        holds: { list: () => [] },
        identity: identityOf(),
      },
      fence: null,
      standby,
    })();
  expect((await checksWith(null)).checks).not.toHaveProperty('synchronous-standby');
  const missing = await checksWith({ describe: async () => 'no standby is connected' });
  expect(missing).toMatchObject({ ok: true });
  expect(missing.checks['synchronous-standby']).toBe('no standby is connected');
});

it('a replica that is out of step is told, and makes no process unready', async () => {
  const checksWith = async (fault: string | null) =>
    createServiceReadiness({
      service: {
        store: {
          describeHealth: async () => 'ok',
          describeReplica: () => ({ fault, behindMs: 0, reads: { replica: 0, primary: 0 } }),
        },
        holds: { list: () => [] },
        identity: identityOf(),
      },
      fence: null,
      standby: null,
    })();
  expect(await checksWith(null)).toMatchObject({ ok: true, checks: { replica: 'ok' } });
  expect(await checksWith('it is behind the primary')).toMatchObject({
    ok: true,
    checks: { replica: 'it is behind the primary' },
  });
});

const readinessWith = (state: { storage?: string; holds?: Hold[]; unkept?: string | null }) =>
  createServiceReadiness({
    service: {
      store: { describeHealth: async () => state.storage ?? 'ok', describeReplica: () => null },
      holds: { list: () => state.holds ?? [] },
      identity: identityOf(),
    },
    fence: { describeUnkept: () => state.unkept ?? null },
    standby: null,
  })();

it('what is not copied beside the fence is told, and keeps no process from deciding', async () => {
  const unkept = 'what changed 61 s ago is not copied beside the fence: names/x';
  expect(await readinessWith({ unkept })).toMatchObject({
    ok: true,
    serves: true,
    checks: { 'fence-copies': unkept },
  });
});

it.each(HOLD_NAMES)('while %s holds decisions a process is not ready, and serves', async (name) => {
  const holds = [{ name, reason: 'why' }];
  expect(await readinessWith({ holds })).toMatchObject({
    ok: false,
    serves: true,
    checks: { [name]: 'why' },
  });
});

it('a process that may rely on nothing that the database says serves nobody', async () => {
  const holds: Hold[] = [{ name: 'fence', reason: 'behind', isOfAll: true }];
  expect(await readinessWith({ holds })).toMatchObject({ ok: false, serves: false });
});

it.each([
  ['read-only', true],
  ['disk full: no space left', true],
  ['refuses writes: why', true],
  ['unreachable', false],
])('with storage that is %s at its start a process is not ready, and serves: %s', async (storage, serves) => {
  expect(await readinessWith({ storage })).toMatchObject({ ok: false, serves });
});

it('a process that loses its database serves what it remembers for as long as a failover takes, and again once it is back', async () => {
  let storage = 'ok';
  const readiness = createServiceReadiness({
    service: {
      store: { describeHealth: async () => storage, describeReplica: () => null },
      holds: { list: () => [] },
      identity: identityOf(),
    },
    fence: null,
    standby: null,
  });
  const after = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    const { ok, serves } = await readiness();
    return [ok, serves];
  };
  expect(await after(0)).toEqual([true, true]);
  storage = 'unreachable';
  expect(await after(1_000)).toEqual([false, true]);
  expect(await after(25_000)).toEqual([false, true]);
  expect(await after(5_000)).toEqual([false, false]);
  storage = 'read-only';
  expect(await after(1_000)).toEqual([false, true]);
});
