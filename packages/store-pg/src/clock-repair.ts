/**
 * Shows the operator the state of the clock, and repairs what was done while the clock was ahead
 * (migrations/0041-clock-traces/02-repair.sql). Uses a connection of its own, as the owner of the tables.
 */
import { randomBytes } from 'node:crypto';
import { encodeUlid } from '@svc/protocol';
import { StoreError } from '@svc/service';
import { clientConfig, openClient } from './client.ts';
import { isServerAnswer, toUnavailable } from './errors.ts';

export interface ClockState {
  readonly databaseMs: number;
  /** Null: no process has ever verified the time. */
  readonly markMs: number | null;
  /** Time of the last Receipt in the database; null: none was ever stored, or all are of days that have left it. */
  readonly lastReceiptMs: number | null;
  readonly sealedUntilMs: number;
  /**
   * End of the quarantine after a restore, a reset of the fence, or a repair: nothing is decided before it, and the
   * seal is no lower. Null: the quarantine is over.
   */
  readonly quarantinedUntilMs: number | null;
  /** Days that are closed although they are not over, ascending. */
  readonly closedEarly: readonly string[];
}

export interface ClockRepair {
  readonly repairedAtMs: number;
  readonly reopenedDays: number;
  /** True: the seal was moved back, and the sums of the month are computed again. */
  readonly unsealed: boolean;
  /** Negative: the mark was moved back. */
  readonly markMovedMs: number;
  /** The end of the quarantine; null: decisions go on at once. */
  readonly decisionsFromMs: number | null;
}

const stateSql = `
  select svc_ms(clock_timestamp()) as "databaseMs",
    (select svc_ms(marked_at) from clock_mark) as "markMs",
    (select svc_ms(evaluated_at) from receipts order by receipt_id desc limit 1) as "lastReceiptMs",
    (select svc_ms(sealed_until) from ledger_seal) as "sealedUntilMs",
    (select svc_ms(q) from svc_quarantined_until() as q where q > clock_timestamp()) as "quarantinedUntilMs",
    array(select day::text from closed_days where day >= (clock_timestamp() at time zone 'UTC')::date order by day)
      as "closedEarly"`;

interface Owner {
  readonly owner: string;
  readonly role: string;
  readonly isOwner: boolean;
}

const ownerSql = `
  select pg_get_userbyid(relowner) as owner, current_user as role, pg_has_role(relowner, 'USAGE') as "isOwner"
  from pg_class where oid = 'checkpoints'::regclass`;

const repairSql = `
  select svc_ms(repaired_at) as "repairedAtMs", reopened_days as "reopenedDays", unsealed, mark_moved_ms as "markMovedMs"
  from svc_repair_clock($1, $2)`;

export const readClockState = (databaseUrl: string): Promise<ClockState> =>
  askOne<ClockState>(databaseUrl, stateSql);

const MAX_ATTEMPTS = 5;
const DEADLOCK_DETECTED = '40P01';

/**
 * Rejects where the role does not own the tables, and where the database's clock and `nowMs`, the time of the
 * operator's machine, differ by more than 5 s. Deliveries of events lock rows in another order than the repair does. If
 * PostgreSQL ends the repair to resolve a deadlock with them, nothing was changed, and the repair is tried again, at
 * most four times.
 */
export const repairClock = async (databaseUrl: string, nowMs: number): Promise<ClockRepair> => {
  const { owner, role, isOwner } = await askOne<Owner>(databaseUrl, ownerSql);
  if (!isOwner)
    throw new StoreError(
      'refused',
      `the tables belong to ${owner}, and DATABASE_URL names ${role}: repair the clock as ${owner}`,
    );
  const eventId = `aud_${encodeUlid(nowMs, randomBytes(10))}`;
  const beganMs = performance.now();
  const repair = await retryDeadlocks(() => {
    const operatorMs = Math.round(nowMs + performance.now() - beganMs);
    return askOne<Omit<ClockRepair, 'decisionsFromMs'>>(databaseUrl, repairSql, [operatorMs, eventId]);
  });
  const { quarantinedUntilMs } = await readClockState(databaseUrl);
  return { ...repair, decisionsFromMs: quarantinedUntilMs };
};

const retryDeadlocks = async <T>(work: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isDeadlock = isServerAnswer(error) && error.code === DEADLOCK_DETECTED;
      if (!isDeadlock || attempt === MAX_ATTEMPTS) throw error;
    }
  }
};

/** Computing a month again deletes its sums, which may be many, and a reopened day is read once. */
const DEADLINE_MS = 600_000;
const CONNECT_MS = 5_000;

const askOne = async <Row extends object>(
  databaseUrl: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<Row> => {
  const client = await openClient({
    ...clientConfig(databaseUrl, DEADLINE_MS),
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: DEADLINE_MS,
  }).catch((error: unknown) => {
    throw toUnavailable(error);
  });
  try {
    const { rows } = await client.query<Row>(text, [...values]);
    const [row] = rows;
    if (row === undefined) throw new Error('the clock was looked at without a row');
    return row;
  } finally {
    client.destroy();
  }
};
