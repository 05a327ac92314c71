import { afterEach, expect, it, vi } from 'vitest';
import { type DelivererDeps, deliverDue, startEventDeliverer } from './deliverer.ts';
import { WEBHOOK_TIMEOUT_MS } from './transport.ts';

afterEach(() => vi.useRealTimers());

/** Answers how to end it. */
type Start = (deps: DelivererDeps) => () => Promise<void>;
const running: Start = (deps) => startEventDeliverer(deps).stop;
const once: Start = (deps) => {
  const stopping = new AbortController();
  const delivered = deliverDue(deps, stopping.signal);
  return () => {
    stopping.abort();
    return delivered;
  };
};

it.each([
  ['a process that runs', running],
  ['one round', once],
])(
  'a stop of %s ends before the time of a receiver that holds its answer is over, and counts no attempt',
  async (_, start) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const noted: unknown[] = [];
    const event = { eventId: 'evt_1', type: 'decision.denied', occurredAtMs: 0, data: '{}' };
    const delivery = { subscriptionId: 'wh_1', ...event, push: null, secrets: ['s'], isNewcomer: false };
    let isTaken = false;
    let post = () => {};
    const posted = new Promise<void>((resolve) => {
      post = resolve;
    });
    const deps = {
      eventLog: { sequence: async () => 0 },
      eventDeliveries: {
        takeBehind: async () => [],
        disableFailing: async () => [],
        take: async () => {
          if (isTaken) return [];
          isTaken = true;
          return [delivery];
        },
        noteOutcome: async (...outcome: unknown[]) => noted.push(outcome),
      },
      revocationNotices: { nextToTell: async () => null },
      webhooks: {
        post: () => {
          post();
          return new Promise(() => {});
        },
      },
      secrets: { derive: () => Buffer.alloc(32) },
      rootMissing: new Set(),
      identity: {
        statusKeys: { signer: { kid: 'did:web:svc.example#status-1', sign: async () => Buffer.alloc(64) } },
      },
      clock: { nowMs: () => 0, resync: async () => {} },
      holds: { list: () => [] },
      log: { info: () => {}, warn: () => {}, error: () => {} },
      pushes: false,
      onFailure: (error: unknown) => {
        throw error;
      },
    } as unknown as DelivererDeps;
    const stop = start(deps);
    await posted;
    let hasEnded = false;
    const stopped = stop().then(() => {
      hasEnded = true;
    });
    await vi.advanceTimersByTimeAsync(WEBHOOK_TIMEOUT_MS - 1_000);
    expect(hasEnded).toBe(true);
    await stopped;
    expect(noted).toEqual([]);
  },
);
