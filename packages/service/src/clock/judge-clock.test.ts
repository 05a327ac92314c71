import { describe, expect, it } from 'vitest';
import { type Doubt, type Judgement, judgeClock, type Reference, type Sighting } from './judge-clock.ts';

const NOON_MS = Date.parse('2026-11-20T12:00:00.000Z');
const SECOND = 1_000;
const HOUR = 3_600_000;

/** Clocks that a test steps one by one; `pass` advances all of them. */
const createMachines = () => {
  const at = { monotonicMs: 50_000, uptimeMs: 900_000, databaseMs: NOON_MS, nodeMs: NOON_MS };
  const pass = (ms: number, monotonicMs = ms) => {
    at.monotonicMs += monotonicMs;
    at.uptimeMs += ms;
    at.databaseMs += ms;
    at.nodeMs += ms;
  };
  const see = (mark: Sighting['mark'] = null, wayMs = 0): Sighting => ({
    databaseMs: at.databaseMs,
    mark,
    sentMs: at.monotonicMs - wayMs,
    receivedMs: at.monotonicMs,
    uptimeMs: at.uptimeMs,
    nodeMs: at.nodeMs,
  });
  return { at, pass, see };
};

const referenceOf = (judgement: Judgement): Reference => {
  if (judgement.kind === 'accepted') return judgement.reference;
  throw new Error(judgement.doubt.reason);
};
const doubtOf = (judgement: Judgement): Doubt => {
  if (judgement.kind === 'doubted') return judgement.doubt;
  throw new Error('it was accepted');
};

/** A process that has run for a minute. */
const atWork = () => {
  const machines = createMachines();
  const reference = referenceOf(judgeClock(machines.see(), null, null));
  machines.pass(60 * SECOND);
  return { ...machines, reference };
};

/** The judgement when the step has lasted for the given time, with a reading every second. */
const after = (
  { pass, see, reference }: ReturnType<typeof atWork>,
  seconds: number,
  mark: Sighting['mark'] = null,
): Judgement => {
  let judgement = judgeClock(see(mark), reference, null);
  for (let i = 0; i < seconds && judgement.kind === 'doubted'; i++) {
    pass(SECOND);
    judgement = judgeClock(see(mark), reference, judgement.doubt);
  }
  return judgement;
};

describe('judgeClock at the start', () => {
  it("accepts the database's clock if the node's clock agrees", () => {
    const { see } = createMachines();
    expect(judgeClock(see(), null, null).kind).toBe('accepted');
  });

  it('accepts neither of two clocks that differ, unless another process has just advanced the mark', () => {
    const { at, see } = createMachines();
    at.nodeMs -= 26 * HOUR;
    const doubt = doubtOf(judgeClock(see(), null, null));
    expect(doubt.reason).toContain('differ by 93600 s');
    expect(judgeClock(see({ atMs: NOON_MS - 61 * SECOND, resets: 0 }), null, null).kind).toBe('doubted');
    expect(judgeClock(see({ atMs: NOON_MS - 4 * SECOND, resets: 0 }), null, null).kind).toBe('accepted');
  });

  it("accepts a clock behind the mark only once it has reached the mark, even if the node's clock agrees", () => {
    const { at, pass, see } = createMachines();
    const mark = { atMs: NOON_MS, resets: 0 };
    at.databaseMs -= 300 * SECOND;
    at.nodeMs -= 300 * SECOND;
    expect(doubtOf(judgeClock(see(mark), null, null)).reason).toContain('2026-11-20T12:00:00.000Z');
    pass(300 * SECOND);
    expect(judgeClock(see(mark), null, null).kind).toBe('accepted');
  });
});

describe('judgeClock in a running process', () => {
  it('follows a deviation of 2 s in either direction', () => {
    for (const ms of [-2 * SECOND, 2 * SECOND]) {
      const { at, see, reference } = atWork();
      at.databaseMs += ms;
      expect(referenceOf(judgeClock(see(), reference, null)).databaseMs).toBe(at.databaseMs);
    }
  });

  /**
   * Takes a reading every 5 s of a database's clock that gains a fixed time between two of them. Returns by how much
   * the clock was followed, and when it was doubted.
   */
  const drift = (gainMs: number, readings: number, nodeGainMs = 0) => {
    const { at, pass, see, ...work } = atWork();
    let { reference } = work;
    for (let i = 1; i <= readings; i++) {
      pass(5 * SECOND);
      at.databaseMs += gainMs;
      at.nodeMs += nodeGainMs;
      const judgement = judgeClock(see(), reference, null);
      if (judgement.kind === 'doubted') return { doubtedAt: i, followedMs: (i - 1) * gainMs };
      reference = judgement.reference;
    }
    return { doubtedAt: null, followedMs: readings * gainMs };
  };

  it.each([2 * SECOND, 1 * SECOND, 100, -2 * SECOND, -100])(
    'follows a clock that gains %d ms between two readings by at most 5 s in all',
    (gainMs) => {
      const { doubtedAt, followedMs } = drift(gainMs, 700);
      expect(doubtedAt).not.toBeNull();
      expect(Math.abs(followedMs)).toBeLessThanOrEqual(5 * SECOND);
    },
  );

  it("follows a drift that the node's clock shares, and a drift of 2 ms per reading for a day", () => {
    expect(drift(400, 700, 400).doubtedAt).toBeNull();
    expect(drift(2, 17_280).doubtedAt).toBeNull();
  });

  it("accepts the database's clock even if the node's clock steps", () => {
    const { at, see, reference } = atWork();
    at.nodeMs += 26 * HOUR;
    expect(judgeClock(see(), reference, null).kind).toBe('accepted');
  });

  it('does not treat a slow answer or a suspended node as a step', () => {
    const { at, pass, see, reference } = atWork();
    expect(judgeClock(see(null, 1_400), reference, null).kind).toBe('accepted');
    at.databaseMs -= 1_400;
    expect(judgeClock(see(null, 1_400), reference, null).kind).toBe('accepted');
    at.databaseMs += 1_400;
    pass(9 * HOUR, 10 * SECOND);
    expect(judgeClock(see(), reference, null).kind).toBe('accepted');
  });

  it.each([
    -26 * HOUR,
    -300 * SECOND,
    -30 * SECOND,
    -6 * SECOND,
    6 * SECOND,
    30 * SECOND,
    300 * SECOND,
    26 * HOUR,
  ])(
    'never accepts a step of the database alone (%d ms), and accepts its clock again once the step is undone',
    (ms) => {
      const work = atWork();
      work.at.databaseMs += ms;
      const judgement = after(work, 400);
      expect(doubtOf(judgement).offByMs).toBe(ms);
      work.at.databaseMs -= ms;
      expect(judgeClock(work.see(), work.reference, doubtOf(judgement)).kind).toBe('accepted');
    },
  );

  it('accepts a short forward step of both clocks after 30 s and not earlier', () => {
    const work = atWork();
    work.at.databaseMs += 30 * SECOND;
    work.at.nodeMs += 30 * SECOND;
    const judgement = after(work, 29);
    expect(judgement.kind).toBe('doubted');
    work.pass(SECOND);
    expect(judgeClock(work.see(), work.reference, doubtOf(judgement)).kind).toBe('accepted');
  });

  it('never accepts a deviation that keeps changing', () => {
    const work = atWork();
    let judgement = judgeClock(work.see(), work.reference, null);
    for (let i = 0; i < 60; i++) {
      work.at.databaseMs += 3 * SECOND;
      work.at.nodeMs += 3 * SECOND;
      judgement = judgeClock(
        work.see(),
        work.reference,
        judgement.kind === 'doubted' ? judgement.doubt : null,
      );
      work.pass(SECOND);
    }
    expect(judgement.kind).toBe('doubted');
  });

  it('accepts a long forward step of both clocks only after the operator has reset the mark', () => {
    const work = atWork();
    work.at.databaseMs += 26 * HOUR;
    work.at.nodeMs += 26 * HOUR;
    const judgement = after(work, 400);
    expect(doubtOf(judgement).reason).toContain('svc-admin clock');
    const mark = { atMs: work.at.databaseMs, resets: 1 };
    expect(judgeClock(work.see(mark), work.reference, doubtOf(judgement)).kind).toBe('accepted');
  });

  it('does not treat a mark advanced by a process as a reset by the operator', () => {
    const work = atWork();
    work.at.databaseMs += 30 * SECOND;
    const mark = { atMs: work.at.databaseMs, resets: 0 };
    expect(judgeClock(work.see(mark), work.reference, null).kind).toBe('doubted');
  });

  it('accepts both clocks after a step back only once they are past all times already used', () => {
    const work = atWork();
    work.at.databaseMs -= 300 * SECOND;
    work.at.nodeMs -= 300 * SECOND;
    const judgement = after(work, 299);
    expect(doubtOf(judgement).usedUntilMs).toBe(NOON_MS + 60 * SECOND);
    work.pass(SECOND);
    const accepted = referenceOf(judgeClock(work.see(), work.reference, doubtOf(judgement)));
    expect(accepted.databaseMs).toBe(NOON_MS + 60 * SECOND);
  });
});
