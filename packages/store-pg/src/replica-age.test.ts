import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { covers, type Position, ReplicaAge, type ReplicaPosition } from './replica-age.ts';

/** An entry of a log, in a history of servers that are promoted, replaced and restarted. */
type Entry = { readonly receipt: number } | { readonly mark: string; readonly run: number };
interface Server {
  log: Entry[];
  /** Number of the server's process. */
  run: number;
  isStandby: boolean;
}

const marksOf = ({ log }: Server) => log.flatMap((entry) => ('mark' in entry ? [entry] : [])).reverse();
const positionOf = (primary: Server): Position => {
  const [newest] = marksOf(primary);
  return {
    lsn: primary.log.length,
    mark: newest !== undefined && newest.run === primary.run ? newest.mark : null,
  };
};
const foundIn = (server: Server): ReplicaPosition => ({
  isStandby: server.isStandby,
  lsn: server.log.length,
  marks: marksOf(server)
    .slice(0, 16)
    .map(({ mark }) => mark),
});

const STEPS = [
  'write',
  'mark',
  'follow',
  'follow former',
  'write former',
  'fail over',
  'start again',
] as const;

/** Whether, by this rule, some report would lack a Receipt that the primary had. */
const forgets = (
  steps: readonly (typeof STEPS)[number][],
  rule: (found: ReplicaPosition, position: Position) => boolean,
  askFor: (primary: Server) => Position = positionOf,
): boolean => {
  let next = 0;
  let primary: Server = { log: [], run: next++, isStandby: false };
  let former: Server = { log: [], run: next++, isStandby: false };
  const replica: Server = { log: [], run: next++, isStandby: true };
  const follow = ({ log }: Server) => {
    // A standby follows any server that has its whole log.
    if (replica.log.every((entry, index) => log[index] === entry))
      replica.log = log.slice(0, replica.log.length + 2);
  };
  for (const step of steps) {
    if (step === 'write') primary.log.push({ receipt: next++ });
    else if (step === 'write former') former.log.push({ receipt: next++ }, { receipt: next++ });
    else if (step === 'mark') primary.log.push({ mark: `m${next++}`, run: primary.run });
    else if (step === 'follow') follow(primary);
    else if (step === 'follow former') follow(former);
    else if (step === 'start again') primary.run = next++;
    else {
      former = primary;
      // The promoted server lacks the end of the former primary's log.
      primary = { log: former.log.slice(0, -1), run: next++, isStandby: false };
    }
    const lacks = primary.log.some((entry) => 'receipt' in entry && !replica.log.includes(entry));
    if (rule(foundIn(replica), askFor(primary)) && lacks) return true;
  }
  return false;
};

const histories = fc.array(fc.constantFrom(...STEPS), { minLength: 8, maxLength: 60 });
const runs = sampled({ quick: 2_000, deep: 100_000 });

it('a replica that covers a position lacks no Receipt of the primary, in any history of promotions and restarts', () => {
  fc.assert(
    fc.property(histories, (steps) => !forgets(steps, covers)),
    { numRuns: runs },
  );
  // The rule also accepts some position.
  const steps = ['mark', 'write', 'follow', 'fail over', 'mark', 'follow', 'write', 'follow'] as const;
  let isCovered = false;
  forgets(steps, (found, position) => {
    isCovered ||= covers(found, position);
    return false;
  });
  expect(isCovered).toBe(true);
});

it.each([
  [
    'the mark alone',
    (found: ReplicaPosition, position: Position) => found.marks.includes(position.mark ?? ''),
  ],
  ['the position alone', ({ lsn }: ReplicaPosition, position: Position) => (lsn ?? 0) >= position.lsn],
])('a comparison by %s accepts a replica that lacks a Receipt: the test can fail', (_, rule) => {
  const { failed } = fc.check(
    fc.property(histories, (steps) => !forgets(steps, rule)),
    { numRuns: 100_000 },
  );
  expect(failed).toBe(true);
});

it('a mark of an earlier server process accepts a replica that lacks a Receipt: the test can fail', () => {
  const ofAnyRun = (primary: Server): Position => ({
    lsn: primary.log.length,
    mark: marksOf(primary)[0]?.mark ?? null,
  });
  const { failed } = fc.check(
    fc.property(histories, (steps) => !forgets(steps, covers, ofAnyRun)),
    { numRuns: 100_000 },
  );
  expect(failed).toBe(true);
});

it('a promoted server and one without a position cover nothing', () => {
  expect(covers({ isStandby: false, lsn: 9, marks: ['m'] }, { lsn: 9, mark: 'm' })).toBe(false);
  expect(covers({ isStandby: true, lsn: null, marks: ['m'] }, { lsn: 0, mark: 'm' })).toBe(false);
});

it('the age of a replica counts from its latest covered position', () => {
  const age = new ReplicaAge();
  const found = (lsn: number, ...marks: string[]): ReplicaPosition => ({ isStandby: true, lsn, marks });
  expect(age.behindMs(1_000)).toBe(Number.POSITIVE_INFINITY);
  age.ask({ lsn: 10, mark: 'a' }, 1_000);
  age.ask({ lsn: 20, mark: 'b' }, 2_000);
  age.meet(found(15, 'b', 'a'));
  expect(age.behindMs(2_500)).toBe(1_500);
  // A replica of another history, although its log is longer.
  age.meet(found(99, 'x'));
  expect(age.behindMs(7_000)).toBe(6_000);
  age.meet(found(20, 'b', 'a'));
  expect(age.behindMs(7_000)).toBe(5_000);
  // The late result of an older look does not reduce it.
  age.meet(found(12, 'a'));
  expect(age.behindMs(7_000)).toBe(5_000);
});
