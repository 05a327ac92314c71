/** Runs the built worker round by round, until days are closed, checked, packed and detached. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from '../harness/contestants.ts';
import { startProgram } from '../harness/program.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { withSession } from '../ledger/database.ts';

export const HOT_DAYS = 36;
/** Most rounds in a row in which no further day is closed or becomes cold. */
const IDLE_ROUNDS = 4;

interface WorkerRounds {
  readonly worker: string;
  readonly databaseUrl: string;
  readonly firstDayMs: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Number of days that must become cold: those that ended at least `HOT_DAYS` days ago. */
  readonly coldDays: number;
  readonly progress: Progress;
}

/** Returns the time it took, in seconds. */
export async function runWorker(
  { folder, cleanup }: Place,
  { worker, databaseUrl, firstDayMs, environment, coldDays, progress }: WorkerRounds,
): Promise<number> {
  const beganMs = performance.now();
  const log = join(folder, 'worker.log');
  await withSession(databaseUrl, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    // The filled Receipts name no evidence. A worker that runs from the first day on reads each day once.
    await session.query(
      'update evidence_naming set named_before = (select counted_before from ledger_count)',
    );
    // Their domains do not exist: the worker would query the DNS for each, and mark each as no longer verified.
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
    // Some jobs do only a part of what is due in each round, so one round without progress may be followed by one with
    // it.
    idle = cold + closed > before ? 0 : idle + 1;
    if (idle === IDLE_ROUNDS)
      throw new Error(`${IDLE_ROUNDS} rounds of the worker brought no further:\n${failuresIn(log)}`);
    before = cold + closed;
  }
  return (performance.now() - beganMs) / 1000;
}

/** What the last jobs logged. */
const failuresIn = (log: string): string =>
  readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => /"level":50|"job"/.test(line))
    .slice(-12)
    .join('\n');
