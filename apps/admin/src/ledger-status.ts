/** `svc-admin ledger status`: where the Receipts of closed days are (docs/operations.md, "Cold days"). */
import { assertSameStore, type PackDaysDeps, parseColdDay } from '@svc/cold-ledger';
import { assertAnswers } from '@svc/object-store';
import { DAY_MS } from '@svc/protocol';
import { type DayState, messageOf } from '@svc/service';
import type { Command } from './command.ts';
import { withPacking } from './packing.ts';

export const ledgerStatusCommand: Command = {
  name: 'ledger status',
  gist: 'Shows where the Receipts of closed days are, how much space they take, and which days are broken; the exit code is 1 if a day is broken or the store does not answer',
  options: {
    all: { text: 'lists each day' },
    json: { text: 'prints one JSON document with each day instead of a report' },
  },
  notes: [
    `A day is hot (in the ledger), recorded (packed, but still in the ledger), cold (read from its objects), broken (not packed, since its
Receipts do not lead to its roots or it could not be packed; the report says why) or unpacked (brought back into the ledger). The command writes
nothing.`,
  ],
  run: ({ all, json }, env) =>
    withPacking(env, async (packing) => {
      const days: Shown[] = [];
      // One after another: manifests are large, connections are few, and there may be years of days.
      for (const day of await packing.store.coldDays.listStates())
        days.push(await withObjectBytes(packing, day));
      const away = await storeProblem(packing);
      if (json === true) console.log(JSON.stringify(days, null, 2));
      else console.log([...report(days, all === true), ...waiting(packing, days)].join('\n'));
      if (away !== null) console.error(`SVC_COLD: ${away}`);
      return away !== null || days.some(({ problem }) => problem !== null) ? 1 : 0;
    }),
};

/** Why the store does not answer, or is not the one that days were packed into; null: it is the right one. */
const storeProblem = async (packing: PackDaysDeps): Promise<string | null> => {
  try {
    await assertAnswers(packing.objects);
    await assertSameStore(packing, new AbortController().signal);
    return null;
  } catch (error) {
    return messageOf(error);
  }
};

interface Shown extends DayState {
  readonly objectBytes: number;
}

const withObjectBytes = async ({ store }: PackDaysDeps, day: DayState): Promise<Shown> => {
  const isPacked = day.state !== 'hot' && day.state !== 'broken';
  const recorded = isPacked ? await store.coldDays.findManifest(day.day) : null;
  const objects = recorded === null ? [] : Object.values(parseColdDay(recorded.manifest).tables).flat();
  return { ...day, objectBytes: objects.reduce((sum, { bytes }) => sum + bytes, 0) };
};

const STATES = ['hot', 'recorded', 'cold', 'broken', 'unpacked'] as const;

const report = (days: readonly Shown[], showsAll: boolean): readonly string[] => [
  'state       days  in the database      as objects',
  ...STATES.map((state) => {
    const those = days.filter((one) => one.state === state);
    const sum = (of: (one: Shown) => number) => those.reduce((all, one) => all + of(one), 0);
    return `${state.padEnd(9)}${String(those.length).padStart(7)}${mib(sum(({ bytes }) => bytes))}${mib(sum(({ objectBytes }) => objectBytes))}`;
  }),
  ...(days.length === 0
    ? ['No day is closed yet: the worker closes one some minutes after its end (UTC).']
    : []),
  ...(showsAll ? days.map(describe) : []),
  ...days.flatMap(({ day, problem }) => (problem === null ? [] : [`${day}: ${problem}`])),
];

/** Work on packed days that is due and not done. */
const waiting = ({ clock, graceDays }: PackDaysDeps, days: readonly Shown[]): readonly string[] => {
  const over = days.filter(
    ({ detachedAtMs }) => detachedAtMs !== null && detachedAtMs < clock.nowMs() - graceDays * DAY_MS,
  );
  const uncleared = days.filter(({ isUncleared }) => isUncleared);
  const say = (those: readonly Shown[], what: string, next: string) =>
    those.length === 0
      ? []
      : [`${those.length} ${those.length === 1 ? 'day' : 'days'} ${what} (first: ${those[0]?.day}): ${next}`];
  return [
    ...say(
      days.filter(({ state }) => state === 'recorded'),
      'packed and still in the ledger',
      'the next round of the worker moves them out of the ledger, or logs cold.locked',
    ),
    ...say(
      over,
      'past the grace period and still kept beside the ledger',
      'svc-admin ledger drop removes them',
    ),
    ...say(
      uncleared,
      'older than seven years with action fields in their objects',
      'the next round of the worker clears them',
    ),
  ];
};

const describe = ({ day, state, bytes, objectBytes, provenAtMs }: Shown): string =>
  `${day} ${state.padEnd(8)}${mib(bytes)}${mib(objectBytes)}${provenAtMs === null ? '' : `  proven ${new Date(provenAtMs).toISOString()}`}`;

const mib = (bytes: number): string => `${(bytes / 1_048_576).toFixed(1)} MiB`.padStart(16);
