import { describe, expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { metricsSource } from './metrics.ts';

const NOW = Date.parse('2026-11-20T23:59:58Z');
const SELF_TEST = 'org_01M7VZGC008Q2R7V9X1C4E6H8M';
const NOBODY = {
  principals: { verified: 0, hostedVerified: 0, hostedUnverified: 0, managed: 0 },
  relyingParties: 0,
  organizations: 0,
  named: [],
  apart: { principals: 0, relyingParties: 0, organizations: 0 },
};

/** A source whose storage answers when the test says so. */
const setUp = () => {
  let nowMs = NOW;
  const apart: unknown[] = [];
  const waiting: { resolve(): void; reject(error: Error): void }[] = [];
  const countAll = (left: unknown) =>
    new Promise((resolve, reject) => {
      apart.push(left);
      waiting.push({ resolve: () => resolve([{ day: '2026-11-20', reason: null, verifies: 3 }]), reject });
    });
  const summarizeTenants = async (left: unknown) => {
    apart.push(left);
    return NOBODY;
  };
  const deps = {
    clock: { nowMs: () => nowMs },
    identity: { did: 'did:web:svc.test', formers: [{ did: 'did:web:scv.test' }] },
    selfTestOrgs: [SELF_TEST],
    store: {
      report: (work: (from: object) => unknown) => work({ usage: { countAll, summarizeTenants } }),
      checkpoints: { findLatest: async () => null, count: async () => 0 },
    },
  } as unknown as ServiceDeps;
  const pass = (ms: number) => {
    nowMs += ms;
  };
  return { metricsOf: metricsSource(deps, 5_000), waiting, pass, apart };
};

describe('the public metrics', () => {
  it('are queried once for all requests, whatever their windows', async () => {
    const { metricsOf, waiting } = setUp();
    const answers = Promise.all([1, 30, 366, 1].map(metricsOf));
    waiting[0]?.resolve();
    expect((await answers).map(({ verifies }) => verifies.perDay.length)).toEqual([1, 30, 366, 1]);
    expect((await metricsOf(7)).verifies.verifies).toBe(3);
    expect(waiting).toHaveLength(1);
  });

  it('are queried again once they are 5 s old, or if the clock was set back', async () => {
    const { metricsOf, waiting, pass } = setUp();
    for (const [index, ms] of [0, 5_000, -1].entries()) {
      pass(ms);
      const answer = metricsOf(1);
      waiting[index]?.resolve();
      await answer;
      pass(4_999);
      await metricsOf(1);
      pass(-4_999);
      expect(waiting).toHaveLength(index + 1);
    }
  });

  it('fail for all waiting requests if their query fails, but not for later ones', async () => {
    const { metricsOf, waiting } = setUp();
    const failing = Promise.allSettled([metricsOf(1), metricsOf(2)]);
    waiting[0]?.reject(new Error('no'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const answer = metricsOf(1);
    waiting[1]?.resolve();
    expect((await answer).receiptsTotal).toBe(3);
  });

  it('leave out self-test orgs, and the sandbox under the present and each former DID of the service', async () => {
    const { metricsOf, waiting, apart } = setUp();
    const answer = metricsOf(1);
    waiting[0]?.resolve();
    await answer;
    const left = {
      orgs: [SELF_TEST],
      subjects: ['svc.test', 'scv.test'].flatMap((domain) => [
        `did:web:${domain}:org:sandbox`,
        `did:web:${domain}:rp:sandbox`,
      ]),
    };
    expect(apart).toEqual([left, left]);
  });

  it('belong to the day of their query until they are queried again', async () => {
    const { metricsOf, waiting, pass } = setUp();
    const answer = metricsOf(1);
    waiting[0]?.resolve();
    expect((await answer).verifies.perDay).toMatchObject([{ day: '2026-11-20', verifies: 3 }]);
    pass(4_000);
    expect((await metricsOf(1)).verifies.perDay).toMatchObject([{ day: '2026-11-20', verifies: 3 }]);
    pass(1_000);
    const next = metricsOf(2);
    waiting[1]?.resolve();
    expect((await next).verifies.perDay.map(({ day, verifies }) => [day, verifies])).toEqual([
      ['2026-11-20', 3],
      ['2026-11-21', 0],
    ]);
  });
});
