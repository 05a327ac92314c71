/** The store of a conformance runner: the queue of runs, over connections of its own, and nothing else of the store. */
import { type ConformanceRunRepository, withinMs } from '@svc/service';
import { pooledDatabase } from './database.ts';
import { DeadlinePool } from './deadline-pool.ts';
import { conformanceRunRepository } from './repositories/conformance-runs.ts';
import { CONNECTIONS_OF_RUNNER } from './store-limits.ts';

export interface RunStore {
  readonly runs: ConformanceRunRepository;
  /** False: the database does not answer, or does not admit this role. */
  isReachable(): Promise<boolean>;
  close(): Promise<void>;
}

export interface RunStoreOptions {
  readonly databaseUrl: string;
  /** Called when an idle connection breaks. */
  readonly onError: (error: Error) => void;
}

const DEADLINE_MS = 2_200;
const WAIT_MS = 2_000;
const REACHED_WITHIN_MS = 700;

/** The schema must have been migrated. */
export const createRunStore = ({ databaseUrl, onError }: RunStoreOptions): RunStore => {
  const pool = new DeadlinePool({
    databaseUrl,
    size: CONNECTIONS_OF_RUNNER,
    deadlineMs: DEADLINE_MS,
    connectMs: WAIT_MS,
    waitMs: WAIT_MS,
    maxWaiting: CONNECTIONS_OF_RUNNER * 8,
    onError,
  });
  return {
    runs: conformanceRunRepository(pooledDatabase(pool, pool)),
    isReachable: () =>
      withinMs(
        REACHED_WITHIN_MS,
        pool
          .run((client) => client.query('select from conformance_runs limit 0'))
          .then(
            () => true,
            () => false,
          ),
        () => false,
      ),
    close: () => pool.close(),
  };
};
