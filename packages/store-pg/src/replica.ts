/**
 * Reports on a streaming replica (docs/decisions/0067). The replica answers a report only once it has replayed
 * everything that the primary had committed before the report was asked for. Where that takes too long, the primary
 * answers. So a report is never older than its request, whichever node wrote the data, and whichever server answered
 * the page before.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Batcher,
  type ReplicaState,
  StoreError,
  type Tenant,
  TooManyCountsError,
  withinMs,
} from '@svc/service';
import type pg from 'pg';
import { checkReplica } from './check-server.ts';
import { StoreClient } from './client.ts';
import { ColdReadError, DayMovedError } from './cold/cold-errors.ts';
import type { Database } from './database.ts';
import type { DeadlinePool } from './deadline-pool.ts';
import { DeadlineError, NoTurnError, toStoreError } from './errors.ts';
import { covers, type Position, ReplicaAge, type ReplicaPosition } from './replica-age.ts';
import { type Held, ReportSession } from './report-session.ts';

export interface ReplicaOptions {
  readonly url: string;
  /** The primary. */
  readonly primary: Database;
  /** Pools of the replica: one for reports, and one for looking at its state, which must not queue behind reports. */
  readonly pools: { readonly replicaReads: DeadlinePool; readonly replicaLooks: DeadlinePool };
  /** How long a report waits for the replica to reach its position. */
  readonly catchUpMs: number;
  readonly lateMs: number;
  /** Called when the replica has been out of step for `lateMs`, and when it is in step, at first or again. */
  readonly onChange: (state: ReplicaState) => void;
}

const LOOK_EVERY_MS = 1_000;
const POLL_MS = 10;
const MAX_WAITING = 8_192;

// The flushed position covers everything that was answered or is visible, and is what a replica is sent. A replica may
// never get what is merely written.
export const positionSql = `
  select (pg_current_wal_flush_lsn() - '0/0')::bigint as lsn,
    case when server = pg_postmaster_start_time() then marks[1] end as mark,
    server <> pg_postmaster_start_time() or marked_at < clock_timestamp() - interval '1 second' as "isDue"
  from replica_marks`;

// This update waits for no standby, which may be away. If the server's loss destroys the mark, no replica can show it
// either.
const markSql = `
  update replica_marks
  set marks = (array_prepend($1, marks))[1:16], server = pg_postmaster_start_time(), marked_at = clock_timestamp()
  from (select set_config('synchronous_commit', 'local', true)) as waits_for_no_standby
  where server <> pg_postmaster_start_time() or marked_at < clock_timestamp() - interval '1 second'`;

// Asked before the report, in its session: every later snapshot sees what was replayed by then, and no earlier one
// does.
const foundSql = `
  select pg_is_in_recovery() as "isStandby", (pg_last_wal_replay_lsn() - '0/0')::bigint as lsn, marks from replica_marks`;

interface Arriving {
  readonly position: Position;
  readonly giveUpAtMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

type PositionRow = Position & { readonly isDue: boolean };

export class Replica {
  readonly #options: ReplicaOptions;
  readonly #age = new ReplicaAge();
  readonly #startedMs = performance.now();
  readonly #stop = new AbortController();
  readonly #reads = { replica: 0, primary: 0 };
  /** A call that arrives while the primary is being asked needs the answer to the next question. */
  readonly #positions = new Batcher<null, Position>(
    async (asking) => {
      const position = await this.#readPosition();
      return asking.map(() => position);
    },
    { maxBatch: MAX_WAITING, maxInFlight: 1, maxWaiting: MAX_WAITING },
  );
  /** Calls that wait for the replica to reach their positions. None of them holds a session for reports yet. */
  readonly #arriving = new Set<Arriving>();
  #isPolling = false;
  #isChecked = false;
  #fault: string | null = 'it has not been met yet';
  #isReported: boolean | null = null;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    void this.#watch();
  }

  get pools(): ReplicaOptions['pools'] {
    return this.#options.pools;
  }

  get state(): ReplicaState {
    return { fault: this.#fault, behindMs: this.#age.behindMs(performance.now()), reads: { ...this.#reads } };
  }

  /**
   * Runs `work` on the replica; null where the primary must answer. Rejects with errors that are not errors of this
   * storage.
   */
  async report<T>(
    work: (database: Database) => Promise<T>,
    tenant: Tenant | null,
  ): Promise<{ readonly value: T } | null> {
    const position = this.#fault === null ? await this.#positions.submit(null).catch(() => null) : null;
    const read = position === null ? null : await this.#readAt(position, work, tenant);
    this.#reads[read === null ? 'primary' : 'replica'] += 1;
    return read;
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.all(Object.values(this.pools).map((pool) => pool.close()));
  }

  async #readAt<T>(
    position: Position,
    work: (database: Database) => Promise<T>,
    tenant: Tenant | null,
  ): Promise<{ readonly value: T } | null> {
    let session: ReportSession | null = null;
    try {
      session = new ReportSession(await this.#take(position, tenant), async () =>
        // The next session may be with another replica. The primary's position now covers everything that this session
        // has shown.
        this.#take(await this.#positions.submit(null), tenant),
      );
      return { value: await work(session) };
    } catch (thrown) {
      const error = session === null ? toStoreError(thrown, 'nothing') : thrown;
      // The primary would read the same objects, so it could not help with unreadable ones, nor with too many counts.
      if (
        !(error instanceof StoreError) ||
        error instanceof ColdReadError ||
        error instanceof TooManyCountsError
      )
        throw error;
      if (isOfServer(error)) this.#fault ??= error.message;
      return null;
    } finally {
      session?.end();
    }
  }

  /** A session that has reached the position. */
  async #take(position: Position, tenant: Tenant | null): Promise<Held> {
    await withinMs(this.#options.catchUpMs, this.#arrive(position), () => {
      throw new NoTurnError('the replica was not asked in time');
    });
    return new Promise((resolve, reject) => {
      const over = this.pools.replicaReads.run(
        async (client) => {
          // The replica may have been lost while this call queued.
          if (this.#fault !== null) throw new StoreError('unavailable', this.#fault);
          await this.#catchUp(client, position);
          await new Promise<void>((leave) => resolve({ client, over, leave }));
        },
        { tenant },
      );
      over.catch(reject);
    });
  }

  /** All waiting calls share the same looks at the replica, and none waits for a later position than its own. */
  #arrive(position: Position): Promise<void> {
    if (this.#arriving.size >= MAX_WAITING)
      return Promise.reject(new NoTurnError(`${MAX_WAITING} wait already`));
    const giveUpAtMs = performance.now() + this.#options.catchUpMs;
    return new Promise((resolve, reject) => {
      this.#arriving.add({ position, giveUpAtMs, resolve, reject });
      if (!this.#isPolling) void this.#pollForArrivals();
    });
  }

  async #pollForArrivals(): Promise<void> {
    this.#isPolling = true;
    try {
      while (this.#arriving.size > 0) {
        let passedBy: StoreError | null = null;
        await this.pools.replicaLooks
          .run(async (client) => {
            passedBy = await this.#answerThem(client);
            // The session is closed, and the next one may be with a server that is further ahead. The remaining calls
            // go on waiting.
            if (passedBy !== null) throw passedBy;
          })
          .catch((error: unknown) => {
            if (passedBy === null) throw error;
          });
        if (this.#arriving.size > 0) await delay(POLL_MS);
      }
    } catch (error) {
      for (const { reject } of this.#arriving) reject(error);
      this.#arriving.clear();
    } finally {
      this.#isPolling = false;
    }
  }

  /** Settles the calls that can be settled. Answers why the server is passed by, or null. */
  async #answerThem(client: pg.ClientBase): Promise<StoreError | null> {
    if (this.#fault !== null) throw new StoreError('unavailable', this.#fault);
    const found = await this.#find(client);
    let passedBy: StoreError | null = null;
    for (const one of this.#arriving) {
      const { position, giveUpAtMs, resolve, reject } = one;
      const isThere = found !== undefined && covers(found, position);
      const isLate = performance.now() > giveUpAtMs;
      if (!isThere && !isLate && found?.isStandby === true) continue;
      this.#arriving.delete(one);
      if (isThere) {
        resolve();
        continue;
      }
      passedBy ??= this.#passBy(client, found, position);
      reject(
        found?.isStandby === true ? new NoTurnError('the replica did not come to it in time') : passedBy,
      );
    }
    return passedBy;
  }

  async #find(client: pg.ClientBase): Promise<ReplicaPosition | undefined> {
    const { rows } = await client.query<ReplicaPosition & pg.QueryResultRow>(foundSql);
    if (rows[0] !== undefined) this.#age.meet(rows[0]);
    return rows[0];
  }

  /** Where there are several replicas, another one may be further ahead. */
  #passBy(client: pg.ClientBase, found: ReplicaPosition | undefined, position: Position): StoreError {
    if (client instanceof StoreClient) client.passBy();
    return new StoreError('unavailable', describe(found, position));
  }

  /** Rejects with `StoreError` `unavailable` where the session does not reach the position in time. */
  async #catchUp(client: pg.ClientBase, position: Position): Promise<void> {
    const giveUpAtMs = performance.now() + this.#options.catchUpMs;
    for (;;) {
      const found = await this.#find(client);
      if (found !== undefined && covers(found, position)) return;
      if (found?.isStandby !== true || performance.now() > giveUpAtMs)
        throw this.#passBy(client, found, position);
      await delay(POLL_MS);
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const fault = await this.#look().then(
        () => null,
        (error: unknown) => toStoreError(error, 'nothing').message,
      );
      if (!signal.aborted) this.#note(fault);
      await delay(LOOK_EVERY_MS, undefined, { ref: false, signal }).catch(() => {});
    }
  }

  async #look(): Promise<void> {
    const { url, primary } = this.#options;
    const askedMs = performance.now();
    const { isDue } = await this.#readPosition();
    if (isDue) await primary.write({ text: markSql, values: [randomUUID()] });
    const position = await this.#readPosition();
    this.#age.ask(position, askedMs);
    if (!this.#isChecked) await checkReplica(url);
    this.#isChecked = true;
    await this.pools.replicaLooks.run((client) => this.#catchUp(client, position));
  }

  #note(fault: string | null): void {
    this.#fault = fault;
    const { behindMs } = this.state;
    const isLate =
      fault !== null && Math.min(behindMs, performance.now() - this.#startedMs) > this.#options.lateMs;
    if (isLate === this.#isReported || (fault !== null && !isLate)) return;
    this.#isReported = isLate;
    this.#options.onChange(this.state);
  }

  async #readPosition(): Promise<PositionRow> {
    const [row] = await this.#options.primary.read<PositionRow>({ text: positionSql, values: [] });
    if (row === undefined) throw new StoreError('refused', 'the primary has no marks');
    return row;
  }
}

/**
 * Whether the error says that the server is unusable. A statement that the server refused, for example because of a
 * conflict with replay, says nothing about the next one. Nor does a report that took too long or got no turn: the next
 * look detects a server that does not answer.
 */
const isOfServer = (error: StoreError): boolean =>
  error.kind === 'unavailable' &&
  !(error instanceof DayMovedError) &&
  !(error instanceof NoTurnError) &&
  !(error.cause instanceof DeadlineError);

const describe = (found: ReplicaPosition | undefined, { lsn, mark }: Position): string => {
  if (found === undefined) return 'it has no marks';
  if (!found.isStandby) return 'it is no standby: it takes writes of its own';
  if (mark === null) return 'the primary has not marked its log yet';
  if (found.lsn === null || found.lsn < lsn) return 'it is behind the primary';
  return 'it lacks what the primary wrote: it follows another cluster or timeline';
};
