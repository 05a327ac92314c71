import { afterEach, expect, it, vi } from 'vitest';
import { type DelivererDeps, deliverDue, startEventDeliverer } from './deliverer.ts';
import { WEBHOOK_TIMEOUT_MS } from './transport.ts';

afterEach(() => vi.useRealTimers());

/** Returns the function that stops it. */
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

/** One delivery, to a receiver that delays its answer until `answer`. */
const holding = () => {
  const noted: unknown[] = [];
  const event = { eventId: 'evt_1', type: 'decision.denied', occurredAtMs: 0, data: '{}' };
  const delivery = { subscriptionId: 'wh_1', ...event, push: null, secrets: ['s'], isNewcomer: false };
  let isTaken = false;
  let post = () => {};
  let answer = () => {};
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
        return new Promise((resolve) => {
          answer = () => resolve({ status: 200, retryAfterMs: null });
        });
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
  return { deps, posted, noted, answer: () => answer() };
};

it.each([
  ['a process that runs', running],
  ['one round', once],
])(
  'a stop of %s ends before the timeout of a receiver that does not answer, and counts no attempt',
  async (_, start) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { deps, posted, noted } = holding();
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

it('a single round whose time is over waits for the delivery under way, and records its outcome', async () => {
  const { deps, posted, noted, answer } = holding();
  const enough = new AbortController();
  const delivered = deliverDue(deps, new AbortController().signal, enough.signal);
  await posted;
  enough.abort();
  answer();
  await delivered;
  expect(noted).toHaveLength(1);
});

it('a single round that is stopped while it reads the log begins no delivery', async () => {
  const { deps, noted } = holding();
  const stopping = new AbortController();
  const eventLog = {
    sequence: async () => {
      stopping.abort();
      return 0;
    },
  };
  const take = vi.spyOn(deps.eventDeliveries, 'take');
  await deliverDue({ ...deps, eventLog } as unknown as DelivererDeps, stopping.signal);
  expect([take.mock.calls, noted]).toEqual([[], []]);
});
