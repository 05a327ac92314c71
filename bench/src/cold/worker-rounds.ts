/** Rounds of the worker as it is built, until days are closed, checked, packed and detached. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../harness/contestants.ts';
import { startProgram } from '../harness/program.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { withSession } from '../ledger/database.ts';

export const HOT_DAYS = 36;
/** Without a day more that is closed or cold. */
const IDLE_ROUNDS = 4;

interface WorkerRounds {
  readonly worker: string;
  readonly databaseUrl: string;
  readonly firstDayMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** How many are to be cold: those that have been over for `HOT_DAYS`. */
  readonly coldDays: number;
  readonly progress: Progress;
}

/** Answers how many seconds that took. */
export async function runWorker(
  { folder, cleanup }: Place,
  { worker, databaseUrl, firstDayMs, environment, coldDays, progress }: WorkerRounds,
): Promise<number> {
  const beganMs = performance.now();
  const log = join(folder, 'worker.log');
  await withSession(databaseUrl, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    // What is filled names no evidence; a worker that is at work from the first day reads each day once.
    await session.query(
      'update evidence_naming set named_before = (select counted_before from ledger_count)',
    );
    // Their domains are made up: the DNS would be asked for each of them, and they would be verified no more.
    await session.query('update principals set last_checked_at = svc_now(), last_proven_at = svc_now()');
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
    if (cold >= coldDays) break;
    // What is due has been read by every job, some of which do a part of it in a round.
    idle = cold + closed > before ? 0 : idle + 1;
    if (idle === IDLE_ROUNDS)
      throw new Error(`${IDLE_ROUNDS} rounds of the worker brought no further:\n${failuresIn(log)}`);
    before = cold + closed;
  }
  return (performance.now() - beganMs) / 1000;
}

/** What the last jobs said. */
const failuresIn = (log: string): string =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /"level":50|"job"/.test(line))
    .slice(-12)
    .join('\n');
