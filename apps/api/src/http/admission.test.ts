import type { Tenant } from '@svc/service';
import { numbers } from '@svc/testkit/numbers';
import { sampled, sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { Admission, type Leaving } from './admission.ts';
import { ApiError } from './api-error.ts';

const tenant = (org: string, crowd: Tenant['crowd'] = 'tenants'): Tenant => ({ crowd, org, subject: org });

/**
 * Simulates a service with a given number of answers a second, which does its work in one queue, for callers that wait
 * 1.7 s. The service also does the work for which its caller no longer waits. Time is simulated.
 */
const simulate = (
  admission: Admission | null,
  phases: readonly { readonly seconds: number; readonly perSecond: number }[],
  capacity = 200,
) => {
  const heard: { readonly atMs: number; readonly answer: 'good' | 'late' | 'refused' }[] = [];
  const leaving: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
  let freeAtMs = 0;
  let nowMs = 0;
  for (const { seconds, perSecond } of phases)
    for (let i = 0; i < seconds * perSecond; i++) {
      nowMs += 1_000 / perSecond;
      while ((leaving[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        const first = leaving.shift();
        first?.leave(first.atMs);
      }
      let leave = (_: number) => {};
      try {
        if (admission !== null) leave = admission.enter(tenant(`org${i % 4}`), nowMs);
      } catch {
        heard.push({ atMs: nowMs, answer: 'refused' });
        continue;
      }
      freeAtMs = Math.max(freeAtMs, nowMs) + 1_000 / capacity;
      heard.push({ atMs: nowMs, answer: freeAtMs - nowMs <= 1_700 ? 'good' : 'late' });
      leaving.push({ atMs: freeAtMs, leave });
    }
  return (fromMs: number, toMs: number) => {
    const part = heard.filter(({ atMs }) => atMs >= fromMs && atMs < toMs);
    const count = (answer: string) => part.filter((one) => one.answer === answer).length;
    return {
      goodPerSecond: (count('good') * 1_000) / (toMs - fromMs),
      refused: count('refused'),
      late: count('late'),
    };
  };
};

const OVERLOAD = [
  { seconds: 5, perSecond: 120 },
  { seconds: 60, perSecond: 600 },
  { seconds: 10, perSecond: 120 },
];

describe('Admission under three times the capacity for 60 s', () => {
  const limited = simulate(new Admission(), OVERLOAD);
  it('answers in time at four fifths of the capacity, and none late, after the first seconds', () => {
    expect(limited(10_000, 65_000).goodPerSecond).toBeGreaterThan(0.8 * 200);
    expect(limited(10_000, 65_000).late).toBe(0);
  });

  it('refuses none and answers none late from two seconds after the load has ended', () => {
    expect(limited(67_000, 75_000)).toMatchObject({ refused: 0, late: 0 });
  });

  it('answers, without the limit, less than a tenth in time, and some late even after the load has ended', () => {
    const during = simulate(null, OVERLOAD);
    expect(during(10_000, 65_000).goodPerSecond).toBeLessThan(0.1 * 200);
    expect(during(67_000, 75_000).late).toBeGreaterThan(0);
  });
});

/**
 * Simulates a service that commits what has come in together, up to 64 at once, as quickly as it can. Its pace changes
 * five times a second. Requests that have waited 400 ms for a turn are refused. Returns three values: the share of its
 * capacity that was used, and the share of late refusals, both without the first seconds, in which admission learns
 * nothing yet; and the median latency of the answers of the second half.
 */
const FIRST_MS = 3_000;
const gathered = (capacity: number, times: number, orgs: number, spread: number) => {
  const seconds = sampled({ quick: 20, deep: 60 });
  const random = numbers(7);
  const admission = new Admission();
  const waiting: { readonly atMs: number; readonly leave: (nowMs: number, leaving?: Leaving) => void }[] = [];
  let batch: typeof waiting = [];
  let endsAtMs = 0;
  let pace = 1;
  let counts = { good: 0, late: 0, soon: 0 };
  const tookMs: number[] = [];
  let due = 0;
  for (let nowMs = 0; nowMs < seconds * 1_000; nowMs++) {
    if (nowMs === FIRST_MS) counts = { good: 0, late: 0, soon: 0 };
    if (nowMs % 200 === 0) pace = 1 - spread + 2 * spread * random();
    while (nowMs - (waiting[0]?.atMs ?? nowMs) > 400) {
      waiting.shift()?.leave(nowMs, { decisions: 0, isSample: true, hasStored: false, receivedAtMs: 0 });
      counts.late += 1;
    }
    if (batch.length > 0 && nowMs >= endsAtMs) {
      for (const { leave } of batch) leave(nowMs);
      counts.good += batch.length;
      if (nowMs > seconds * 500) tookMs.push(...batch.map(({ atMs }) => nowMs - atMs));
      batch = [];
    }
    if (batch.length === 0 && waiting.length > 0) {
      batch = waiting.splice(0, 64);
      endsAtMs = nowMs + (2 + (batch.length * 1_000) / capacity) / pace;
    }
    for (due += (capacity * times) / 1_000; due >= 1; due--)
      try {
        const leave = admission.enter(tenant(`org${Math.floor(random() * orgs)}`), nowMs);
        waiting.push({ atMs: nowMs, leave });
      } catch {
        counts.soon += 1;
      }
  }
  return {
    carried: counts.good / (capacity * (seconds - FIRST_MS / 1_000)),
    late: counts.late / (counts.late + counts.soon),
    medianMs: tookMs.sort((one, other) => one - other)[tookMs.length >> 1] ?? 0,
  };
};

describe('Admission makes at least 98 of 100 refusals at once, and uses 80 % of the capacity', () => {
  const cases = [200, 400, 800].flatMap((capacity) =>
    [3, 10].flatMap((times) =>
      [1, 5].flatMap((orgs) => [0, 0.5].map((spread) => ({ capacity, times, orgs, spread }))),
    ),
  );

  // Simulating 800 a second takes twenty times as long as 200.
  const cheap = sampleOf(
    cases.filter(({ capacity }) => capacity === 200),
    2,
  );
  it.each(sampled({ quick: cheap, deep: cases }))(
    'with $times times $capacity a second, of $orgs orgs, pace changing by $spread',
    (one) => {
      const { carried, late } = gathered(one.capacity, one.times, one.orgs, one.spread);
      expect(carried).toBeGreaterThan(0.8);
      expect(late).toBeLessThan(0.02);
    },
  );
});

it.each([100, 200])(
  'Admission at %i a second keeps the median latency below 350 ms: it does not take a queue for a slow disk',
  (capacity) => {
    expect(gathered(capacity, 3, 5, 0).medianMs).toBeLessThan(350);
  },
);

describe('Admission with slow batch commits and occasional delays', () => {
  const endMs = sampled({ quick: 40_000, deep: 120_000 });
  /**
   * Answers per second, in the second half of the time; `refill` admits requests, given the number under way and the
   * time.
   */
  const answered = (
    refill: (underWay: number, nowMs: number) => readonly ((nowMs: number) => void)[],
    standstillEveryMs = Number.POSITIVE_INFINITY,
  ) => {
    let standsStillAtMs = standstillEveryMs;
    const waiting: ((nowMs: number) => void)[] = [];
    let batch: typeof waiting = [];
    let endsAtMs = 0;
    let batches = 0;
    let good = 0;
    for (let nowMs = 0; nowMs < endMs; nowMs++) {
      if (batch.length > 0 && nowMs >= endsAtMs) {
        for (const leave of batch) leave(nowMs);
        if (nowMs >= endMs / 2) good += batch.length;
        batch = [];
      }
      waiting.push(...refill(waiting.length + batch.length, nowMs));
      if (batch.length > 0 || waiting.length === 0) continue;
      batch = waiting.splice(0, 64);
      batches += 1;
      endsAtMs = nowMs + 50 + batch.length * 2 + (batches % 12 === 0 ? 250 : 0);
      if (nowMs < standsStillAtMs) continue;
      endsAtMs += 1_200;
      standsStillAtMs += standstillEveryMs;
    }
    return good / (endMs / 2_000);
  };

  const overloaded = (standstillEveryMs?: number) => {
    const admission = new Admission();
    return answered((_, nowMs) => {
      try {
        return [admission.enter(tenant(`org${nowMs % 4}`), nowMs)];
      } catch {
        return [];
      }
    }, standstillEveryMs);
  };
  const by48 = answered((underWay) => Array.from({ length: 48 - underWay }, () => () => {}));

  it('reaches at overload four fifths of the throughput of 48 concurrent requests: a delayed commit does not count as a queue', () => {
    expect(by48).toBeLessThan(1_000 / 3);
    expect(overloaded()).toBeGreaterThan(0.8 * by48);
  });

  it('reaches the same throughput with a standstill of 1.2 s every 14 s', () => {
    expect(overloaded(14_000)).toBeGreaterThan(0.8 * by48);
  });
});

describe('A standstill of 500 ms at half of the capacity', () => {
  /** Answers that are due during a standstill come at its end, as quickly as the service can. */
  const standstill = (stallsMs: readonly number[], lengthMs: number) => {
    const admission = new Admission();
    const leaving: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
    let freeAtMs = 0;
    let refused = 0;
    for (let nowMs = 0; nowMs < 30_000; nowMs += 10) {
      while ((leaving[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        const first = leaving.shift();
        first?.leave(first.atMs);
      }
      const stall = stallsMs.find((at) => nowMs >= at && nowMs < at + lengthMs);
      freeAtMs = Math.max(freeAtMs, stall === undefined ? nowMs : stall + lengthMs) + 5;
      try {
        const leave = admission.enter(tenant(`org${(nowMs / 10) % 4}`), nowMs);
        leaving.push({ atMs: freeAtMs, leave });
      } catch {
        refused += 1;
      }
    }
    return refused;
  };

  it('causes no refusal, even when it is repeated', () => {
    expect(standstill([10_000, 12_000, 14_000, 20_000], 500)).toBe(0);
  });
});

describe('Admission for 64 concurrent clients after an idle time', () => {
  /**
   * 64 clients of one org, each of which sends its next request when it has its answer. Answers come one after another,
   * at the given pace of each time.
   */
  const refusals = (paceAt: (nowMs: number) => number) => {
    const admission = new Admission();
    admission.enter(tenant('one'), 0)(40);
    const leaving: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
    let refused = 0;
    let freeAtMs = 0;
    const ask = (nowMs: number) => {
      freeAtMs = Math.max(freeAtMs, nowMs) + 1_000 / paceAt(nowMs);
      try {
        leaving.push({ atMs: freeAtMs, leave: admission.enter(tenant('one'), nowMs) });
      } catch {
        refused += 1;
      }
    };
    for (let i = 0; i < 64; i++) ask(20_000);
    for (let nowMs = 20_000; nowMs < 30_000; nowMs++)
      while ((leaving[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) {
        leaving.shift()?.leave(nowMs);
        ask(nowMs);
      }
    return refused;
  };

  it('refuses none while the service is slow for the first 700 ms, as before code is compiled', () => {
    expect(refusals((nowMs) => (nowMs < 20_700 ? 100 : 700))).toBe(0);
  });

  it('refuses some if the service remains slow', () => {
    expect(refusals(() => 100)).toBeGreaterThan(0);
  });
});

it('Admission refuses calls in repeated bursts of overload, but none in the first burst', () => {
  const burst = [
    { seconds: 1.4, perSecond: 600 },
    { seconds: 4, perSecond: 0.25 },
  ];
  const bursts = simulate(new Admission(), Array.from({ length: 20 }, () => burst).flat());
  expect(bursts(0, 1_400).refused).toBe(0);
  expect(bursts(30_000, 108_000).refused).toBeGreaterThan(1_000);
});

it('Admission refuses none while the service keeps up with 95 % of its capacity', () => {
  const steady = simulate(new Admission(), [{ seconds: 60, perSecond: 190 }]);
  expect(steady(0, 60_000)).toMatchObject({ refused: 0, late: 0 });
});

it('Admission refuses none, some seconds after every answer has become slow, if the slowness is not caused by the load', () => {
  const admission = new Admission();
  const leaving: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
  const refusedAtMs: number[] = [];
  for (let nowMs = 0; nowMs < 30_000; nowMs += 5) {
    while ((leaving[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) leaving.shift()?.leave(nowMs);
    try {
      const tookMs = nowMs < 5_000 ? 20 : 450;
      leaving.push({ atMs: nowMs + tookMs, leave: admission.enter(tenant(`org${(nowMs / 5) % 4}`), nowMs) });
    } catch {
      refusedAtMs.push(nowMs);
    }
  }
  expect(refusedAtMs.filter((atMs) => atMs > 18_000)).toEqual([]);
});

it('Admission reduces a queue within seconds after the disk became fast again: the median latency falls below 350 ms', () => {
  const admission = new Admission();
  let underWay: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
  const tookMs: number[] = [];
  let freeAtMs = 0;
  for (let nowMs = 0; nowMs < 20_000; nowMs++) {
    for (const { atMs, leave } of underWay) if (atMs <= nowMs) leave(atMs);
    underWay = underWay.filter(({ atMs }) => atMs > nowMs);
    const isSlow = nowMs < 6_000;
    // 41 of these are under way. They remain when a crowd comes, which leaves a queue, so no later request sees only
    // few under way.
    const isDue = isSlow ? nowMs % 11 === 0 : nowMs % 10 < 7;
    const count = nowMs === 6_100 ? 550 : Number(isDue);
    for (let i = 0; i < count; i++)
      try {
        const leave = admission.enter(tenant(`org${(nowMs + i) % 4}`), nowMs);
        freeAtMs = Math.max(freeAtMs, nowMs) + 1_000 / 705;
        underWay.push({ atMs: isSlow ? nowMs + 450 : freeAtMs, leave });
        if (nowMs > 10_000) tookMs.push(freeAtMs - nowMs);
      } catch {
        // Refused at once.
      }
  }
  expect(tookMs.sort((one, other) => one - other)[tookMs.length >> 1]).toBeLessThan(350);
});

it('Admission gives one org, and all newcomers together, at most three quarters of the limit', () => {
  for (const crowd of ['tenants', 'newcomers'] as const) {
    const admission = new Admission();
    const take = (name: string) => {
      try {
        admission.enter(tenant(crowd === 'tenants' ? 'one' : name, crowd), 0);
        return true;
      } catch {
        return false;
      }
    };
    let taken = 0;
    while (take(`org${taken}`)) taken += 1;
    expect(taken).toBe(admission.limit * 0.75);
    expect(() => admission.enter(tenant('other'), 0)).not.toThrow();
  }
});

it.each(sampled({ quick: [1, 2], deep: [1, 2, 6] }))(
  'Admission: %i orgs that send three times the capacity cause no refusal of a small org',
  (floods) => {
    const random = numbers(floods);
    const admission = new Admission();
    const leaving: { readonly atMs: number; readonly leave: (nowMs: number) => void }[] = [];
    const refused = { small: 0, floods: 0 };
    let freeAtMs = 0;
    const enter = (nowMs: number, org: string): boolean => {
      try {
        const leave = admission.enter(tenant(org), nowMs);
        freeAtMs = Math.max(freeAtMs, nowMs) + 1;
        leaving.push({ atMs: freeAtMs + 5, leave });
        return true;
      } catch {
        return false;
      }
    };
    // Requests that were admitted before the limit was found have to be answered first.
    const fromMs = 5_000;
    const endMs = fromMs + sampled({ quick: 3_000, deep: 60_000 });
    for (let nowMs = 0; nowMs < endMs; nowMs++) {
      while ((leaving[0]?.atMs ?? Number.POSITIVE_INFINITY) <= nowMs) leaving.shift()?.leave(nowMs);
      const asking = Array.from({ length: floods * 3 }, (_, i) => `flood${i % floods}`);
      if (nowMs % 50 === 0) asking.splice(Math.floor(random() * (asking.length + 1)), 0, 'small');
      for (const org of asking)
        if (!enter(nowMs, org) && nowMs >= fromMs) refused[org === 'small' ? 'small' : 'floods'] += 1;
    }
    expect(refused.floods).toBeGreaterThan(endMs - fromMs);
    expect(refused.small).toBe(0);
  },
);

it('Admission sends a Retry-After that grows while the overload lasts', () => {
  const admission = new Admission();
  while (true) {
    try {
      for (let i = 0; ; i++) admission.enter(tenant(`${i}`), 0);
    } catch {
      break;
    }
  }
  const waits = [0, 900, 2_500, 6_000, 60_000, 60_500].map((atMs) => {
    try {
      admission.enter(tenant('x'), atMs);
    } catch (error) {
      return error instanceof ApiError ? error.headers['Retry-After'] : null;
    }
    return null;
  });
  expect(waits).toEqual(['1', '1', '3', '7', '1', '1']);
});

describe('The time that a caller causes itself', () => {
  const batch = { decisions: 50, isSample: false, hasStored: true, receivedAtMs: 0 };
  const waited = { decisions: 1, isSample: false, hasStored: true, receivedAtMs: 0 };

  it('does not lower the limit: long batches and waits for other hosts; a delay by the service does', () => {
    const admission = new Admission();
    const { limit } = admission;
    for (let nowMs = 0; nowMs < 60_000; nowMs += 100)
      for (const leaving of [batch, waited])
        admission.enter(tenant('hostile'), nowMs)(nowMs + 1_000, leaving);
    expect(admission.limit).toBe(limit);
    const slow = Array.from({ length: 100 }, () => admission.enter(tenant('slow'), 60_000));
    for (const leave of slow)
      leave(60_900, { decisions: 1, isSample: true, hasStored: true, receivedAtMs: 60_890 });
    expect(admission.limit).toBe(limit);
    // Requests that the service itself delays are learned from.
    const others = Array.from({ length: 1_000 }, () => admission.enter(tenant('other'), 61_000));
    const later = Array.from({ length: 500 }, () => admission.enter(tenant('other'), 61_900));
    for (const leave of [...others, ...later]) leave(62_500);
    expect(admission.limit).toBeLessThan(limit);
  });

  it('does not hide load: batches count by their decisions, so late answers at 1,000 decisions a second set a limit near 300', () => {
    const admission = new Admission();
    const crowd = Array.from({ length: 20 }, () => admission.enter(tenant('c'), 0));
    for (let nowMs = 0; nowMs < 4_000; nowMs += 50) admission.enter(tenant('a'), nowMs)(nowMs + 49, batch);
    for (const leave of crowd) leave(3_990, waited);
    admission.enter(tenant('b'), 4_000)(4_020);
    const many = Array.from({ length: 1_000 }, () => admission.enter(tenant('b'), 3_400));
    for (const leave of many.slice(-10)) leave(4_021);
    expect(admission.limit).toBeGreaterThan(200);
    expect(admission.limit).toBeLessThan(400);
  });
});
