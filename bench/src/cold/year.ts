/** A year of the ledger benchmark of which most days are cold: packed by the worker as it is built, read by the API as it is built. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Place } from '../harness/contestants.ts';
import { startProgram } from '../harness/program.ts';
import { LedgerCluster, withSession } from '../ledger/database.ts';
import { DAY_MS } from '../ledger/days.ts';
import { measureDecisions } from '../ledger/decisions.ts';
import { measureExport } from '../ledger/export.ts';
import { startNodes } from '../ledger/nodes.ts';
import { homeOf, prepare } from '../ledger/prepare.ts';
import { measureRequests } from '../ledger/requests.ts';
import type { Row } from '../ledger/table.ts';
import type { ColdOptions } from './options.ts';

/** Of 366. */
const HOT_DAYS = 36;
const COLD_DAYS = 330;
const LIST_MS = 300;
const CPU_BAR = 1.05;
/** Of the worker, without a day more that is closed or cold. */
const IDLE_ROUNDS = 4;

export async function measureYear(
  place: Place,
  options: ColdOptions,
  progress: (line: string) => void,
): Promise<Row[]> {
  const { api, yearReceipts: receipts, requests: samples, rounds, seconds } = options;
  const kept = join(place.folder, 'year');
  mkdirSync(kept);
  const cluster = await LedgerCluster.open(join(kept, 'database'), false, place.cleanup);
  const { ledger, database } = await prepare({
    ...{ place, cluster, receipts, api, progress, isShort: false, environment: homeOf(kept) },
    file: join(kept, 'ledger.json'),
  });
  const environment = { ...homeOf(kept), SVC_COLD: pathToFileURL(join(kept, 'objects')).href };
  const [coldMs, packing] = await packYear(place, options, {
    ...{ databaseUrl: database.url, firstDayMs: ledger.firstDayMs, progress },
    environment,
  });
  const nodes = await startNodes(place, api, database.url, { environment });
  progress('asking');
  const rows = await measureRequests({ nodes, ledger, samples, progress, listMs: LIST_MS });
  progress('exporting');
  rows.push(...(await measureExport({ nodes, ledger, database, untilMs: coldMs })));
  progress('deciding');
  const deciding = { place, api, node: nodes[0], database, rounds, seconds, progress, bar: CPU_BAR };
  return [packing, ...rows, ...(await measureDecisions(deciding))];
}

interface Packing {
  readonly databaseUrl: string;
  readonly firstDayMs: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly progress: (line: string) => void;
}

/** Rounds of the worker, which closes, checks and packs, until all days that are to be cold are. Answers when the first hot day begins. */
async function packYear(
  { folder, cleanup }: Place,
  { worker }: ColdOptions,
  { databaseUrl, firstDayMs, environment, progress }: Packing,
): Promise<readonly [coldMs: number, row: Row]> {
  const beganMs = performance.now();
  const log = join(folder, 'worker.log');
  await withSession(databaseUrl, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    // What is filled names no evidence; a worker that is at work from the first day reads each day once.
    await session.query(
      'update evidence_naming set named_before = (select counted_before from ledger_count)',
    );
    await session.query('update deployment set first_day = to_timestamp($1 / 1000.0)::date', [firstDayMs]);
  });
  for (let before = -1, idle = 0; ; ) {
    const round = startProgram(
      {
        name: 'the worker',
        command: [worker, '--once'],
        environment: {
          DATABASE_URL: databaseUrl,
          SVC_HOT_DAYS: `${HOT_DAYS}`,
          ...environment,
          SVC_ADMIN_PORT: '0',
        },
        logFile: log,
      },
      cleanup,
    );
    await new Promise((resolve) => round.process.once('exit', resolve));
    const [row] = await withSession(databaseUrl, async (session) => {
      const text = `select count(*)::integer as cold, (select count(*)::integer from checkpoints) as closed from cold_days where state = 'cold'`;
      return (await session.query<{ cold: number; closed: number }>(text)).rows;
    });
    const { cold = 0, closed = 0 } = row ?? {};
    progress(`${closed} days are closed, ${cold} are cold`);
    if (cold >= COLD_DAYS) break;
    // What is due has been read by every job, some of which do a part of it in a round.
    idle = cold + closed > before ? 0 : idle + 1;
    if (idle === IDLE_ROUNDS)
      throw new Error(`${IDLE_ROUNDS} rounds of the worker brought no further:\n${failuresIn(log)}`);
    before = cold + closed;
  }
  const seconds = (performance.now() - beganMs) / 1000;
  const row = {
    ...{ what: 'closing, checking and packing the year, s', p50: '', figure: seconds.toFixed(0) },
    ...{ bar: '', isMissed: false, note: `${COLD_DAYS} days, by the worker` },
  };
  return [firstDayMs + COLD_DAYS * DAY_MS, row];
}

/** What the last jobs said. */
const failuresIn = (log: string): string =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /"level":50|"job"/.test(line))
    .slice(-12)
    .join('\n');
