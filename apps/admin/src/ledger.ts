/**
 * The commands of `svc-admin ledger` that prove closed days, or move them between the database and the store of cold
 * days (docs/operations.md, "Cold days").
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
  proveDay,
  workOf,
} from '@svc/cold-ledger';
import { loadWorkerSecrets } from '@svc/config';
import { type Day, messageOf } from '@svc/service';
import { unpackDay } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';
import { asPacker, assertDaysSet, dayOf, withPacking } from './packing.ts';

const dayOption = { value: 'DAY', text: 'only this day (YYYY-MM-DD)' } as const;

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

const EVENTS_WAIT =
  'Until this ends, events (webhooks, Shared Signals) wait, of every tenant: some minutes for a million Receipts. Decisions and revocations go on.';

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
    `Until it has ended, no event is sent to anybody (webhooks, Shared Signals; those of revocations too): some minutes for a day of a
million Receipts. Decisions and revocations go on. Choose an hour in which that does not matter.`,
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
      console.error(EVENTS_WAIT);
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
