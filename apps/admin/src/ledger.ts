/**
 * `svc-admin ledger …`: moves closed days between the database and the store of cold days (docs/operations.md, "Cold
 * days").
 */
import { UsageError } from '@svc/cli/command-line';
import {
  assertSameStore,
  ColdDayReader,
  dropDays,
  manifestReader,
  type PackDaysDeps,
  packDays,
  packNamedDay,
  parseColdDay,
  proveDay,
  workOf,
} from '@svc/cold-ledger';
import { type Environment, loadWorkerSecrets, secretsOfOthers } from '@svc/config';
import { assertAnswers } from '@svc/object-store';
import { readWorkerConfig } from '@svc/process';
import { DAY_MS } from '@svc/protocol';
import { type Day, type DayState, messageOf, type Store } from '@svc/service';
import { unpackDay } from '@svc/store-pg';
import { isDay } from '@svc/transparency';
import { type Command, databaseUrlFrom } from './command.ts';
import { withOpened } from './open.ts';

const dayOption = { value: 'DAY', text: 'only this day (YYYY-MM-DD)' } as const;

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

export const ledgerPackCommand: Command = {
  name: 'ledger pack',
  gist: 'Does a packing round of the worker: packs due days, clears what is seven years old, moves packed days out of the ledger, and removes those that left it long ago',
  options: {
    day: {
      ...dayOption,
      text: 'packs only this day, whatever its age; the day leaves the ledger in the next round',
    },
  },
  notes: [
    `A day must be closed, counted, and found intact within the last 36 hours. A day that was brought back is packed again only with --day,
as the owner of the tables. Use the SVC_COLD…, SVC_HOT_DAYS and SVC_COLD_GRACE_DAYS of the worker; in production, without --day, the last two must be set.`,
  ],
  run: async ({ day }, env) => {
    if (day === undefined) assertDaysSet(env, ['SVC_HOT_DAYS', 'SVC_COLD_GRACE_DAYS']);
    const pack = async (packing: PackDaysDeps, stop: AbortSignal) => {
      if (day === undefined) {
        const done = Object.entries(await packDays(packing, stop));
        console.log(done.map(([what, count]) => `${count} ${what}`).join(', '));
        return Number(done.some(([what, count]) => what === 'broken' && count > 0));
      }
      const outcome = await packNamedDay(packing, dayOf(day), stop);
      console.log(`${day} is ${outcome}.`);
      return outcome === 'packed' ? 0 : 1;
    };
    return asPacker(env, pack, loadWorkerSecrets);
  },
};

export const ledgerUnpackCommand: Command = {
  name: 'ledger unpack',
  operand: 'DAY',
  gist: 'Brings a packed day back into the ledger and checks it against its roots; the worker does not pack it again',
  options: {
    from: {
      value: 'SOURCE',
      text: 'kept (the copy beside the ledger) or objects (the copy in the store); needed if the two differ',
    },
  },
  notes: [
    `The day comes from the copy that is kept beside the ledger, or else from its objects, which stay in the store. If both exist, the
command compares them column by column; if they differ, --from says which one is right. It all happens in one transaction, and the service
may run meanwhile. Run it as the owner of the tables.`,
  ],
  run: ({ from: wanted }, env, operand) =>
    withPacking(env, async (packing) => {
      const day = dayOf(operand);
      if (wanted !== undefined && wanted !== 'kept' && wanted !== 'objects')
        throw new UsageError(`--from must be kept or objects, not ${String(wanted)}`);
      const read = manifestReader(packing.identity, packing.crypto);
      const compared =
        wanted === undefined ? await compareKept(packing, day) : 'not compared with its objects';
      const open = (manifest: string) => new ColdDayReader(packing.objects, read(manifest));
      const from = await unpackDay({
        databaseUrl: databaseUrlFrom(env),
        day,
        open,
        from: wanted,
      });
      const came = {
        ledger: 'which it had not left yet',
        kept: `from the copy beside it, ${compared}`,
        objects: 'from its objects',
      };
      console.log(`${day} is in the ledger again, ${came[from]}.`);
      return 0;
    }),
};

/**
 * Throws if the kept rows of a day differ from its objects. The day's roots are not enough: they cover what is signed,
 * but not all that lists show.
 */
const compareKept = async (packing: PackDaysDeps, day: Day): Promise<string> => {
  const stop = new AbortController().signal;
  const recorded = await packing.store.coldDays.findManifest(day);
  if (recorded === null || (await packing.store.coldDays.findPlace(day)) !== 'kept') return 'not compared';
  let differing: string | null;
  try {
    const manifest = manifestReader(packing.identity, packing.crypto)(recorded.manifest);
    differing = await workOf(packing).findLoss(manifest, stop);
  } catch (error) {
    return `not compared with its objects (${messageOf(error)})`;
  }
  if (differing === null) return 'the same in every column as its objects';
  throw new UsageError(
    `${day}: the copy beside the ledger differs from its objects, in ${differing}. Find out which one is right, then repeat with --from kept or --from objects`,
  );
};

export const ledgerVerifyCommand: Command = {
  name: 'ledger verify',
  gist: 'Reads packed days from their objects and compares them with what was published; the exit code is 1 if one differs',
  options: { day: dayOption },
  notes: [
    'It records the result, as the worker does once a month for each cold day. It also compares the copy that is kept beside the ledger, column by column.',
  ],
  run: ({ day }, env) =>
    withPacking(env, async (packing) => {
      const stop = new AbortController().signal;
      const states = await packing.store.coldDays.listStates();
      const packed = states.filter(({ state }) => !['hot', 'broken'].includes(state)).map((one) => one.day);
      // A day that was brought back does not depend on its objects. They may be damaged, which may be why it was
      // brought back.
      const inUse = states
        .filter(({ state }) => state === 'recorded' || state === 'cold')
        .map((one) => one.day);
      const asked = day === undefined ? inUse : [dayOf(day)];
      if (asked.some((one) => !packed.includes(one))) throw new UsageError(`${day} is not packed`);
      // In another store every day would be noted as missing.
      await assertSameStore(packing, stop);
      let differing = 0;
      for (const one of asked) {
        const problem = await proveDay(packing, one, stop, { isCopied: true });
        differing += Number(problem !== null);
        console.log(`${one}  ${problem ?? 'ok'}`);
      }
      if (asked.length === 0) console.log('No day is packed: there is nothing to check.');
      return differing === 0 ? 0 : 1;
    }),
};

export const ledgerDropCommand: Command = {
  name: 'ledger drop',
  gist: 'Removes the copies of cold days beside the ledger whose grace period is over, after it has checked each day’s objects again',
  options: {},
  notes: [
    `The role of the service may not do this, since it cannot be undone; the worker then logs cold.not_dropped. Run it as the owner of the
tables, in the environment of the worker. In production SVC_COLD_GRACE_DAYS must be set.`,
  ],
  run: async (_, env) => {
    assertDaysSet(env, ['SVC_COLD_GRACE_DAYS']);
    return asPacker(env, async (packing, stop) => {
      if (!(await packing.store.coldDays.mayDrop()))
        throw new UsageError('this role may not remove days: DATABASE_URL must name the owner of the tables');
      await assertSameStore(packing, stop);
      const { dropped, locked, notProven } = await dropDays(packing, stop);
      console.log(`${dropped} ${dropped === 1 ? 'day was' : 'days were'} removed from the database.`);
      if (locked !== null)
        console.log(
          `${locked} and the days after it are kept, since the table of ${locked} is locked. Try again.`,
        );
      const problems = new Map(
        (await packing.store.coldDays.listBroken()).map((one) => [one.day, one.problem]),
      );
      for (const day of notProven) console.log(`${day} is kept: ${problems.get(day) ?? 'it was not proven'}`);
      return notProven.length === 0 && locked === null ? 0 : 1;
    });
  },
};

/**
 * Uses the worker's configuration, so that no secret of the API is needed. `load`: loads the signing keys; default:
 * none.
 */
const withPacking = (
  env: Environment,
  work: (packing: PackDaysDeps, store: Store) => Promise<number>,
  load: typeof loadWorkerSecrets = secretsOfOthers,
): Promise<number> =>
  withOpened(env, { read: readWorkerConfig, load }, ({ packing, service: { store } }) => {
    if (packing === null)
      throw new UsageError(
        'SVC_COLD is not set: set it to the store of cold days, as the worker has it (with `npm start`: file:// and the folder cold in SVC_DATA_DIR)',
      );
    return work(packing, store);
  });

/** Runs in place of the worker's job of that name, under the same lock, so that no worker runs the job meanwhile. */
const asPacker = (
  env: Environment,
  work: (packing: PackDaysDeps, stop: AbortSignal) => Promise<number>,
  load?: typeof loadWorkerSecrets,
): Promise<number> =>
  withPacking(
    env,
    async (packing, store) => {
      const done = await store.exclusive('job:pack-days', async (lost) => {
        const code = await work(packing, lost);
        // If the lock was lost, the work was not completed, whatever was counted.
        lost.throwIfAborted();
        return code;
      });
      if (!done.held)
        throw new Error('a worker runs pack-days at this moment: try again when its round has ended');
      return done.value;
    },
    load,
  );

/**
 * The numbers of days must be given: a default that is shorter than the worker's setting would pack or remove days too
 * early.
 */
const assertDaysSet = (env: Environment, names: readonly string[]): void => {
  const unset = env.SVC_ENV === 'production' ? names.filter((name) => !env[name]) : [];
  if (unset.length > 0)
    throw new UsageError(
      `${unset.join(' and ')} must be set to what the worker has; the defaults are 35 and 7 days`,
    );
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

const dayOf = (value: unknown): Day => {
  if (typeof value !== 'string' || !isDay(value))
    throw new UsageError(`${String(value)} is not a day: write it as YYYY-MM-DD`);
  return value;
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
