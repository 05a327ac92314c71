/**
 * Connections that do not answer, of all pools of a store. There are three reasons for it, which only the server can
 * tell apart, asked over a session that is opened for that and kept for as long as there is something to ask, and after
 * that for a second, or for a minute where nothing was lost:
 *
 * - A commit waits for a standby. The server cannot take it back and does not notice that its client is gone, so a
 *   connection opened in place of each would leave one more session behind every second. It keeps its place until the
 *   server says that the wait is over.
 * - The server is short of time, and late with new sessions above all. A connection that answers before the question does
 *   is used again. So is one that the server is at work for, until it answers or two seconds have passed: the limits of the
 *   server end its statement by then, and closing the connection would end nothing and cost a new session.
 * - The connection is lost without a word, and others may be with it, in every pool. So whenever one is silent all idle
 *   ones are asked too. Opening a session takes a server far longer than a word on one that is open: an idle connection
 *   that was asked before, and is silent still a moment after the new session has answered, is lost, however slow the
 *   server is. It is closed before somebody waits for it in vain.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withinMs } from '@svc/service';
import { clientConfig, openClient, type StoreClient } from './client.ts';
import { DeadlineError } from './errors.ts';

/** For connecting and asking; a server that does not answer is asked again, and a session that is late is opened to its end. */
const ASK_MS = 1_000;
const OPEN_MS = 3_000;
const PAUSE_MS = 250;
/** The pause after a question that was not answered: a server that is short of time is not asked for session after session. */
const LONG_PAUSE_MS = 1_000;
const SESSION_KEPT_MS = 1_000;
/**
 * Where nothing was lost the server is slow, and sessions are what it is slowest with: what is late next is asked about
 * over this one.
 */
const SLOW_KEPT_MS = 60_000;
const AT_WORK_MS = 2_000;
/** The process behind an idle connection may get its turn of the processor after the one that is new. */
const TURN_MS = 100;

const atWorkSql = `
  select pid, wait_event is not distinct from 'SyncRep' as "isWaiting" from pg_stat_activity
  where pid = any ($1::int[]) and state = 'active'`;

/** Called once. `isHealthy`: it has answered, and may be used again; otherwise nothing is lost by closing it. */
export type LetGo = (isHealthy: boolean) => void;

/** A session that has not answered, not closed yet. */
interface SuspectConnection {
  readonly sinceMs: number;
  readonly letGo: LetGo;
  /** The server was not at work on it when it was asked last. Its answer may have been under way. */
  wasIdle: boolean;
}

export class SilentConnections {
  readonly #idle = new Set<StoreClient>();
  /** What became of idle ones that are being asked: true once they have answered, false when they are closed. */
  readonly #probes = new Map<StoreClient, Promise<boolean>>();
  readonly #suspects = new Map<StoreClient, SuspectConnection>();
  #isAsking = false;
  /** Since asking began. */
  #isNoneLost = true;
  #session: StoreClient | null = null;
  #opening: Promise<StoreClient> | null = null;
  #closing: NodeJS.Timeout | undefined;

  constructor(private readonly databaseUrl: string) {}

  addIdle(client: StoreClient): void {
    this.#idle.add(client);
  }

  removeIdle(client: StoreClient): void {
    this.#idle.delete(client);
  }

  /** To be used now. False: it is lost; where that is in question, it is known once the server has been asked. */
  async takeIdle(client: StoreClient): Promise<boolean> {
    this.removeIdle(client);
    return (await this.#probes.get(client)) ?? true;
  }

  /**
   * Its caller has given up. `isAnswered` tells, once everything that was asked of it has an answer, whether the connection
   * is healthy.
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

  /** Over the session that is open. What is lost tells that others may be: then, and where none is open, over a new one. */
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

  /** Lets go of what the server is not at work on, or has been for too long. Answers whether none of it was lost. */
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
      const hasTime = isWaiting === false && performance.now() - kept.sinceMs < AT_WORK_MS;
      if (isWaiting === true || hasTime) continue;
      const mayBeAnswered = isWaiting === undefined && !isNew && !kept.wasIdle;
      kept.wasIdle = true;
      if (mayBeAnswered || !this.#suspects.has(client)) continue;
      // One that has been at work for too long says nothing of the network.
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
        // A process that ends does not wait for a question that may come.
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
