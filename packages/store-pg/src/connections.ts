/**
 * The open connections of one pool. A caller waits for a connection until its own limit; opening a connection may take
 * longer. When the caller gives up first, the connection is still opened to the end, and goes to the next caller that
 * waits, or to the pool. If the attempt were dropped with its caller, a server that accepts slowly would be asked for
 * ever more connections, and none would ever be used.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Semaphore, StoreError, withinMs } from '@svc/service';
import pg from 'pg';
import { clientConfig, StoreClient } from './client.ts';
import { toUnavailable } from './errors.ts';
import { SilentConnections } from './silent-connections.ts';
import type { Statement } from './statement.ts';
import { warmUp } from './warm-up.ts';

export interface ConnectionsOptions {
  readonly databaseUrl: string;
  readonly size: number;
  /** The server's limit for a statement, ms. */
  readonly deadlineMs: number;
  /**
   * Milliseconds after which a server that neither accepts nor refuses a connection is taken for dead. Default 3,000.
   */
  readonly openMs?: number;
  /** True: the pool keeps its connections open, so that work seldom waits for one to be opened. */
  readonly isKept?: boolean;
  /** Statements that each new session runs once, with empty input, and rolls back before it is handed out. */
  readonly warmUp?: readonly Statement[];
  /** Server settings of these connections. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Whether a session with that server may be used. Default: any. */
  readonly counts?: (server: string) => boolean;
  /** The same for a session that was just opened; may wait until the answer is known. Default: `counts`. */
  readonly settles?: (server: string) => Promise<boolean>;
  /**
   * Shared by all pools of a store, so that each pool learns which connections another found silent. Default: its own.
   */
  readonly silent?: SilentConnections;
  /**
   * Shared by the pools whose work is not urgent, because a server that is short of time opens only a few sessions.
   * Default: its own.
   */
  readonly openings?: Semaphore;
  /** Receives the errors of idle connections that break. */
  readonly onError: (error: Error) => void;
}

/** Every client of the pool is a `StoreClient`. */
type Session = StoreClient & pg.PoolClient;

interface Waiting {
  /** Increases with each caller that waits. */
  readonly number: number;
  readonly resolve: (client: Session) => void;
  readonly reject: (error: unknown) => void;
}

const IDLE_MS = 60_000;
const CLOSE_MS = 2_000;
const OPEN_MS = 3_000;
/**
 * First and longest pause before a connection to be kept is tried again. The actual pause is random, between half of it
 * and all of it, so that processes do not retry together.
 */
const KEEP_PAUSE_MS = 500;
const MAX_KEEP_PAUSE_MS = 5_000;
/**
 * Connections being opened at once. A server that comes back, or is short of time, is not asked for all of them
 * together.
 */
const MAX_OPENING = 2;

export const createOpenings = (): Semaphore =>
  new Semaphore({
    atOnce: MAX_OPENING,
    maxWaiting: Number.POSITIVE_INFINITY,
    full: () => new RangeError('the queue has no bound'),
  });

export class Connections {
  readonly #pool: pg.Pool;
  readonly #options: ConnectionsOptions;
  readonly #silent: SilentConnections;
  readonly #openings: Semaphore;
  readonly #clients = new Set<StoreClient>();
  /** First come, first served. */
  readonly #waiting = new Set<Waiting>();
  #lastNumber = 0;
  /** Connections asked for and not handed out yet. `#opening`: how many of these are being opened or queue for it. */
  #asked = 0;
  #opening = 0;
  /** Places of the pool taken by connections that wait for their turn to be opened. */
  #inLine = 0;
  #filling: Promise<void> | null = null;
  readonly #closing = new AbortController();

  constructor(options: ConnectionsOptions) {
    this.#options = options;
    this.#silent = options.silent ?? new SilentConnections(options.databaseUrl);
    this.#openings = options.openings ?? createOpenings();
    const clients = this.#clients;
    const silent = this.#silent;
    this.#pool = new pg.Pool({
      ...clientConfig(options.databaseUrl, options.deadlineMs, options.settings),
      max: options.size,
      connectionTimeoutMillis: options.openMs ?? OPEN_MS,
      idleTimeoutMillis: IDLE_MS,
      min: options.isKept === true ? options.size : 0,
      onConnect: (client) => this.#warmUp(client as Session),
      Client: class extends StoreClient {
        constructor(config?: pg.ClientConfig) {
          super(config);
          clients.add(this);
          this.once('end', () => {
            clients.delete(this);
            silent.removeIdle(this);
          });
        }
      },
    });
    this.#pool.on('error', (error) => {
      if (!this.#isClosing) options.onError(error);
    });
    this.#pool.on('remove', () => {
      void this.openKept();
    });
  }

  /**
   * Resolves when all connections to be kept have been opened, or when the pool is closing. A connection that is lost
   * later is opened again without a caller.
   */
  async openKept(): Promise<void> {
    if (this.#options.isKept !== true) return;
    this.#filling ??= this.#fill().finally(() => {
      this.#filling = null;
    });
    await this.#filling;
  }

  /** Opens one after another; after a failure it pauses and tries again. */
  async #fill(): Promise<void> {
    let pauseMs = KEEP_PAUSE_MS;
    while (!this.#isClosing && this.#isRoom) {
      this.#inLine += 1;
      const isOpen = await this.#openings
        .run(() => this.#openAnother())
        .then(
          () => true,
          () => false,
        );
      if (isOpen) pauseMs = KEEP_PAUSE_MS;
      else {
        const { signal } = this.#closing;
        await delay(pauseMs * (0.5 + Math.random() / 2), undefined, { ref: false, signal }).catch(() => {});
        pauseMs = Math.min(2 * pauseMs, MAX_KEEP_PAUSE_MS);
      }
    }
  }

  #connect(): Promise<Session> {
    return this.#pool.connect() as Promise<Session>;
  }

  /** `pg.Pool` opens no connection while one is idle, so the idle ones are taken until the new one is being opened. */
  async #openAnother(): Promise<void> {
    const { idleCount } = this.#pool;
    const idle = await Promise.allSettled(Array.from({ length: idleCount }, () => this.#pool.connect()));
    this.#inLine -= 1;
    const opening = this.#connect();
    for (const one of idle) if (one.status === 'fulfilled') one.value.release();
    this.#ask();
    const client = await opening;
    if (await this.#settles(client)) return this.#give(client);
    this.release(client, false);
    client.passBy();
    throw new StoreError('unavailable', 'the server has been replaced');
  }

  async #warmUp(client: Session): Promise<void> {
    const { warmUp: statements = [], settles } = this.#options;
    if (statements.length === 0) return;
    // Asks about the server while the session warms up.
    void settles?.(client.server);
    try {
      await warmUp(client, statements);
    } catch (error) {
      // The pool would end the session politely, and wait for the server.
      client.destroy();
      throw error;
    }
  }

  get #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /**
   * A connection that is the caller's alone until `release`. Rejects with `StoreError` `unavailable` where none could
   * be had in time.
   */
  async take(waitMs: number): Promise<Session> {
    let giveUp = () => {};
    const had = new Promise<Session>((resolve, reject) => {
      const waiting = { number: ++this.#lastNumber, resolve, reject };
      giveUp = () => this.#waiting.delete(waiting);
      this.#waiting.add(waiting);
      this.#ask();
    });
    return withinMs(waitMs, had, () => {
      giveUp();
      throw new StoreError('unavailable', `no connection was open within ${waitMs} ms`);
    });
  }

  /** Whether the answers of this session may be relied on. */
  counts({ server, isUnreplicated }: Session): boolean {
    const { counts = () => true } = this.#options;
    return counts(server) && !isUnreplicated;
  }

  async #settles(client: Session): Promise<boolean> {
    const { settles } = this.#options;
    if (settles !== undefined) await settles(client.server);
    return this.counts(client);
  }

  /** Returns the connection to the pool; destroys it where it is unhealthy or inside a transaction. */
  release(client: Session, isHealthy: boolean): void {
    const isReusable = isHealthy && client.getTransactionStatus() === 'I';
    if (isReusable) this.#silent.addIdle(client);
    client.release(!isReusable);
    if (!isReusable) client.destroy();
    this.#ask();
  }

  /**
   * For a caller that gave up while the server is at work. The connection keeps its place as long as the server waits
   * for a standby, and is used again if the answer arrives before the connection is closed.
   */
  abandon(client: Session, isAnswered: Promise<boolean>): void {
    if (!this.#isClosing)
      this.#silent.keep(client, isAnswered, (isHealthy) => this.release(client, isHealthy));
    else this.release(client, false);
  }

  /** Callers that wait for a connection to be opened get a freed one first. */
  #ask(): void {
    const isFree = () => this.#asked - this.#opening < Math.min(this.#waiting.size, this.#pool.idleCount);
    while (isFree()) void this.#askPool(0);
    while (this.#asked < this.#waiting.size && this.#opening < MAX_OPENING && this.#isRoom)
      void this.#askPool(1);
  }

  /** Whether the pool has room for one more, beside connections that are open, being opened, or queued to be opened. */
  get #isRoom(): boolean {
    return this.#pool.totalCount + this.#inLine < this.#options.size;
  }

  async #askPool(opening: 0 | 1): Promise<void> {
    const lastNumber = this.#lastNumber;
    this.#asked += 1;
    this.#opening += opening;
    let give: () => void;
    try {
      const client = await (opening === 1 ? this.#openInTurn() : this.#connect());
      const isThere = await this.#silent.takeIdle(client);
      give = () => this.#give(client);
      const isGood = isThere && (opening === 1 ? await this.#settles(client) : this.counts(client));
      if (!isGood) {
        this.release(client, false);
        if (isThere) client.passBy();
        // An idle connection fails no caller: another one is asked for instead.
        if (opening === 1) throw new StoreError('unavailable', 'the server has been replaced');
        give = () => {};
      }
    } catch (error) {
      give = () => this.#refuse(error, lastNumber);
    }
    this.#asked -= 1;
    this.#opening -= opening;
    give();
    this.#ask();
    // Connections to be kept may have been waiting for this place.
    if (opening === 1) void this.openKept();
  }

  /** Opens a connection in turn, unless no caller waits any more by then. */
  #openInTurn(): Promise<Session> {
    this.#inLine += 1;
    return this.#openings.run(async () => {
      this.#inLine -= 1;
      if (this.#waiting.size === 0)
        throw new StoreError('unavailable', 'nobody waited for a connection any more');
      return this.#connect();
    });
  }

  #give(client: Session): void {
    const [first] = this.#waiting;
    if (first === undefined) this.release(client, true);
    else {
      this.#waiting.delete(first);
      first.resolve(client);
    }
  }

  /**
   * Rejects the caller that has waited longest, if it waited already when the pool was asked. For later callers the
   * pool tries again.
   */
  #refuse(error: unknown, lastNumber: number): void {
    const [first] = this.#waiting;
    if (first === undefined || first.number > lastNumber) return;
    this.#waiting.delete(first);
    first.reject(toUnavailable(error));
  }

  /** Number of open connections, at work and idle. */
  get state(): { readonly busy: number; readonly idle: number } {
    const { totalCount, idleCount } = this.#pool;
    return { busy: totalCount - idleCount, idle: idleCount };
  }

  /** Waits for work in progress, then cuts what is left. When it resolves, no connection is open. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#silent.letGo(this.#clients);
    const cut = setTimeout(() => {
      for (const client of this.#clients) client.destroy();
    }, CLOSE_MS);
    try {
      await this.#pool.end();
      // The pool drops its clients before their sessions have ended.
      for (const client of this.#clients) await new Promise<void>((resolve) => client.once('end', resolve));
    } finally {
      clearTimeout(cut);
    }
  }
}
