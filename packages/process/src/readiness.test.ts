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

it('storage that does not answer is reported within a second, with one query for simultaneous requests', async () => {
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

it('a fault of a status signer outside the process is shown, and the process stays ready', async () => {
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

it('a missing promised standby is shown, and the process stays ready', async () => {
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

it('a fault of the replica is shown, and the process stays ready', async () => {
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

it('changes that are not copied beside the fence are shown, and the process stays ready', async () => {
  const unkept = 'what changed 61 s ago is not copied beside the fence: names/x';
  expect(await readinessWith({ unkept })).toMatchObject({
    ok: true,
    serves: true,
    checks: { 'fence-copies': unkept },
  });
});

it.each(HOLD_NAMES)('while %s holds decisions, a process is not ready but serves', async (name) => {
  const holds = [{ name, reason: 'why' }];
  expect(await readinessWith({ holds })).toMatchObject({
    ok: false,
    serves: true,
    checks: { [name]: 'why' },
  });
});

it('with a hold of all work, a process is not ready and serves nothing', async () => {
  const holds: Hold[] = [{ name: 'fence', reason: 'behind', isOfAll: true }];
  expect(await readinessWith({ holds })).toMatchObject({ ok: false, serves: false });
});

it.each([
  ['read-only', true],
  ['disk full: no space left', true],
  ['refuses writes: why', true],
  ['unreachable', false],
])('with storage that is %s at its start, a process is not ready; it serves: %s', async (storage, serves) => {
  expect(await readinessWith({ storage })).toMatchObject({ ok: false, serves });
});

it('a process that loses its database still serves for as long as a failover takes, and again once it is back', async () => {
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
