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
  for (const { ok, checks } of await asked)
    expect([ok, checks.storage]).toEqual([false, 'no answer within 800 ms']);
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
  expect(away).toMatchObject({ ok: true, decides: true });
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
  expect(missing).toMatchObject({ ok: true, decides: true });
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
    decides: true,
    checks: { replica: 'it is behind the primary' },
  });
});
