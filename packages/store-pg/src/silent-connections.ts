/**
 * Tracks connections that do not answer, in all pools of a store. There are three causes, and only the server can tell
 * which one applies. So this class asks the server over a session opened for that purpose. It keeps that session as
 * long as there is something to ask, and afterwards for one second, or for one minute where no connection was lost.
 *
 * - A commit waits for a standby. The server cannot cancel the commit and does not notice that its client is gone, so
 *   replacing each such connection would leave one more session behind every second. The connection keeps its place
 *   until the server says that the wait is over.
 * - The server is short of time, and slow above all to open sessions. A connection that answers before the question
 *   does is used again. So is one on which the server is at work, until it answers or two seconds have passed. By then
 *   the server's own limits end its statement; closing the connection earlier would end nothing and cost a new session.
 * - The connection was lost without a reset, and others in any pool may be lost with it. So whenever one is silent, all
 *   idle ones are probed too. Opening a session takes a server far longer than an answer on an open one. So an idle
 *   connection that was probed first, and is silent still a moment after the new session has answered, is lost, however
 *   slow the server is. It is closed before a caller waits for it in vain.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withinMs } from '@svc/service';
import { clientConfig, openClient, type StoreClient } from './client.ts';
import { DeadlineError } from './errors.ts';

/**
 * Limits for asking, and for opening the session. An unanswered question is asked again; a session that is late is
 * still opened to the end.
 */
const ASK_MS = 1_000;
const OPEN_MS = 3_000;
const PAUSE_MS = 250;
/**
 * Pause after an unanswered question, so that a server that is short of time is not asked for session after session.
 */
const LONG_PAUSE_MS = 1_000;
const SESSION_KEPT_MS = 1_000;
/**
 * Where no connection was lost, the server is slow, and opening sessions is what it does slowest. So this session is
 * kept to ask about later silent connections.
 */
const SLOW_KEPT_MS = 60_000;
const AT_WORK_MS = 2_000;
/** The server process of an idle connection may be scheduled after that of the new session. */
const TURN_MS = 100;

const atWorkSql = `
  select pid, wait_event is not distinct from 'SyncRep' as "isWaiting" from pg_stat_activity
  where pid = any ($1::int[]) and state = 'active'`;

/** Called once. `isHealthy`: the connection has answered and may be used again; otherwise closing it loses nothing. */
export type LetGo = (isHealthy: boolean) => void;

/** A session that has not answered and is not closed yet. */
interface SuspectConnection {
  readonly sinceMs: number;
  readonly letGo: LetGo;
  /** The server was not at work on it at the last question. Its answer may have been under way then. */
  wasIdle: boolean;
}

export class SilentConnections {
  readonly #idle = new Set<StoreClient>();
  /** Probes of idle connections: true once the connection has answered, false when it was closed. */
  readonly #probes = new Map<StoreClient, Promise<boolean>>();
  readonly #suspects = new Map<StoreClient, SuspectConnection>();
  #isAsking = false;
  /** Since the current series of questions began. */
  #isNoneLost = true;
  #session: StoreClient | null = null;
  #opening: Promise<StoreClient> | null = null;
  #closing: NodeJS.Timeout | undefined;

  /** `atWorkMs`: how long a connection on which the server is at work is kept. */
  constructor(
    private readonly databaseUrl: string,
    private readonly atWorkMs = AT_WORK_MS,
  ) {}

  addIdle(client: StoreClient): void {
    this.#idle.add(client);
  }

  removeIdle(client: StoreClient): void {
    this.#idle.delete(client);
  }

  /**
   * Called when a connection is to be used now. False: it is lost. Where that is in doubt, the result waits until the
   * server was asked.
   */
  async takeIdle(client: StoreClient): Promise<boolean> {
    this.removeIdle(client);
    return (await this.#probes.get(client)) ?? true;
  }

  /**
   * For a connection whose caller gave up. `isAnswered` resolves when the server has answered everything that was sent
   * on it, and says whether it is healthy.
   */
  keep(client: StoreClient, isAnswered: Promise<boolean>, letGo: LetGo): void {
    this.#suspects.set(client, { sinceMs: performance.now(), letGo, wasIdle: false });
    void isAnswered.then((isHealthy) => this.#letGo(client, isHealthy));
    if (!this.#isAsking) void this.#askOn();
  }

  /** Closes these connections, whatever they wait for. */
  letGo(clients: Iterable<StoreClient>): void {
    for (const client of clients) this.#letGo(client, false);
    if (this.#suspects.size === 0) this.#closeSession();
  }

  async #askOn(): Promise<void> {
    this.#isAsking = true;
    this.#isNoneLost = true;
    clearTimeout(this.#closing);
    while (this.#suspects.size + this.#probes.size > 0) {
      const isAsked = await this.#ask().then(
        () => true,
        () => false,
      );
      if (!isAsked) this.#closeSession();
      const pauseMs = isAsked ? PAUSE_MS : LONG_PAUSE_MS;
      if (this.#suspects.size + this.#probes.size > 0) await delay(pauseMs, undefined, { ref: false });
    }
    this.#isAsking = false;
    this.#closeSoon();
  }

  /**
   * Asks over the open session. If that shows a lost connection, others may be lost too: then, and where no session is
   * open, it asks over a new session.
   */
  async #ask(): Promise<void> {
    if (this.#session !== null && (await this.#askOver(this.#session, false).catch(() => false))) return;
    this.#closeSession();
    for (const client of this.#idle) this.#probe(client);
    const probed = [...this.#probes];
    await this.#askOver(await this.#openSession(), true);
    await withinMs(TURN_MS, Promise.all(probed.map(([, isAnswered]) => isAnswered)), () => {});
    const lost = probed.flatMap(([client]) => (this.#probes.has(client) ? [client] : []));
    this.#isNoneLost &&= lost.length === 0;
    for (const client of lost) client.destroy(new Error('a connection was lost without a word'));
  }

  /**
   * Closes the connections on which the server is not at work, or has been at work for too long. Answers whether none
   * of them was lost.
   */
  async #askOver(session: StoreClient, isNew: boolean): Promise<boolean> {
    const asked = [...this.#suspects];
    const { rows } = await session.query<{ pid: number; isWaiting: boolean }>({
      text: atWorkSql,
      values: [asked.map(([{ pid }]) => pid)],
    });
    const atWork = new Map(rows.map(({ pid, isWaiting }) => [pid, isWaiting]));
    let isNoneLost = true;
    for (const [client, kept] of asked) {
      const isWaiting = client.server === session.server ? atWork.get(client.pid) : undefined;
      const hasTime = isWaiting === false && performance.now() - kept.sinceMs < this.atWorkMs;
      if (isWaiting === true || hasTime) continue;
      const mayBeAnswered = isWaiting === undefined && !isNew && !kept.wasIdle;
      kept.wasIdle = true;
      if (mayBeAnswered || !this.#suspects.has(client)) continue;
      // A connection with work that takes too long says nothing about the network.
      isNoneLost &&= isWaiting !== undefined;
      this.#letGo(client, false);
    }
    this.#isNoneLost &&= isNoneLost;
    return isNoneLost;
  }

  async #openSession(): Promise<StoreClient> {
    this.#opening ??= openClient({
      ...clientConfig(this.databaseUrl, ASK_MS),
      connectionTimeoutMillis: OPEN_MS,
      query_timeout: ASK_MS,
    })
      .then((session) => {
        this.#session = session;
        // A process that ends does not wait for a later question.
        session.unref();
        if (!this.#isAsking) this.#closeSoon();
        return session;
      })
      .finally(() => {
        this.#opening = null;
      });
    return withinMs(ASK_MS, this.#opening, () => {
      throw new DeadlineError(`no session within ${ASK_MS} ms`);
    });
  }

  #closeSoon(): void {
    clearTimeout(this.#closing);
    const keptMs = this.#isNoneLost ? SLOW_KEPT_MS : SESSION_KEPT_MS;
    this.#closing = setTimeout(() => this.#closeSession(), keptMs).unref();
  }

  #closeSession(): void {
    this.#session?.destroy();
    this.#session = null;
  }

  #probe(client: StoreClient): void {
    if (this.#probes.has(client)) return;
    const probe = client.query('').then(
      () => true,
      () => false,
    );
    this.#probes.set(client, probe);
    void probe.then(() => this.#probes.delete(client));
  }

  #letGo(client: StoreClient, isHealthy: boolean): void {
    const kept = this.#suspects.get(client);
    this.#suspects.delete(client);
    kept?.letGo(isHealthy);
  }
}
