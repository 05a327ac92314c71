/**
 * A pg client whose socket can be destroyed at once, and whose session is prepared before any caller has it. `end()`
 * alone sends a terminate message and waits for the server, which never answers if it is stopped.
 */
import { Socket } from 'node:net';
import { StoreError } from '@svc/service';
import pg from 'pg';
import { type Servers, serversOf } from './servers.ts';
import { columnTypes } from './type-parsers.ts';

export interface StoreClientConfig extends pg.ClientConfig {
  readonly databaseUrl?: string;
  /** Set in the session by a statement: not every pooler passes on the settings of a connection's start-up message. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Limit of the statement that prepares a session, ms. Opening the connection has a limit of its own. */
const PREPARE_MS = 2_000;

/**
 * `synchronous_commit` is set because `off` and `local`, whether configured for the role, the database or the server,
 * would acknowledge commits that the loss of one machine destroys. Warnings are shown because only a warning tells that
 * the wait for the standby was cancelled. Both are set for the session, so a later change of the configuration does not
 * affect it.
 */
const prepareSql = `
  select set_config('synchronous_commit',
      case when current_setting('synchronous_commit') in ('off', 'local') then 'on'
        else current_setting('synchronous_commit') end, false),
    set_config('client_min_messages', 'warning', false),
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    extract(epoch from pg_postmaster_start_time())::text as server, pg_backend_pid() as pid,
    (select count(set_config(name, value, false)) from unnest($1::text[], $2::text[]) as wanted (name, value))`;

/**
 * The routine in PostgreSQL that gives this warning. The text of the warning depends on the server's language, and its
 * code is not specific.
 */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

export class StoreClient extends pg.Client {
  readonly #socket: Socket;
  readonly #servers: Servers;
  readonly #url: string;
  readonly #settings: Readonly<Record<string, string>>;
  #server = '';
  #pid = 0;
  #isUnreplicated = false;

  constructor({ databaseUrl = '', settings = {}, ...config }: StoreClientConfig = {}) {
    const socket = new Socket();
    const servers = serversOf(databaseUrl);
    const url = servers.current;
    super({ ...config, connectionString: url, stream: () => socket });
    this.#socket = socket;
    this.#servers = servers;
    this.#url = url;
    this.#settings = settings;
    // An 'error' event without a listener would end the process. Users of the connection learn of the error from their
    // statements.
    this.on('error', () => {});
    this.on('notice', ({ routine }) => {
      this.#isUnreplicated ||= routine === WAIT_FOR_STANDBY;
    });
  }

  /**
   * Rejects where the server was not reached, or is not of the kind wanted: it is read-only where writes are needed, or
   * the reverse.
   */
  override connect(): Promise<pg.Client>;
  override connect(callback: Connected): void;
  override connect(callback?: Connected): unknown {
    const connected = this.#connect();
    if (callback === undefined) return connected;
    const report = callback as (error: Error | null, client?: pg.Client) => void;
    return connected.then(
      (client) => report(null, client),
      (error: Error) => report(error),
    );
  }

  async #connect(): Promise<pg.Client> {
    try {
      await super.connect();
      const { rows } = await this.query<{ isReadOnly: boolean; server: string; pid: number }>({
        text: prepareSql,
        values: [Object.keys(this.#settings), Object.values(this.#settings)],
        query_timeout: PREPARE_MS,
      } as pg.QueryConfig);
      this.#server = rows[0]?.server ?? '';
      this.#pid = rows[0]?.pid ?? 0;
      if (rows[0]?.isReadOnly !== false && this.#servers.mustTakeWrites)
        throw new StoreError('unavailable', `${this.host} takes no writes`);
      if (rows[0]?.isReadOnly !== true && this.#servers.mustTakeNone)
        throw new StoreError('unavailable', `${this.host} takes writes: it is no standby`);
      return this;
    } catch (error) {
      this.passBy();
      this.destroy();
      throw error;
    }
  }

  /** A process that ends does not wait for this connection. */
  unref(): void {
    this.#socket.unref();
  }

  /**
   * Identifies the server's process by its start time, to the microsecond: no two servers have the same, and a restart
   * changes it. The address would not do, because one server may have several, such as an IPv4 and an IPv6 address of
   * one name.
   */
  get server(): string {
    return this.#server;
  }

  /** Process id of this session on that server. */
  get pid(): number {
    return this.#pid;
  }

  /**
   * True after a wait for the standby was cancelled: what was committed then is on this server only, although the
   * answer reported success.
   */
  get isUnreplicated(): boolean {
    return this.#isUnreplicated;
  }

  /** New connections go to another server, where there are several. */
  passBy(): void {
    this.#servers.passBy(this.#url);
  }

  /** `reason`: the error that the statement under way and the listener for idle connections receive. */
  destroy(reason?: Error): void {
    this.#socket.destroy(reason);
  }
}

/**
 * Opens a connection outside any pool, to the first usable server, each asked in turn. Rejects with the error of the
 * last one.
 */
export async function openClient(config: StoreClientConfig): Promise<StoreClient> {
  for (let left = serversOf(config.databaseUrl ?? '').count; ; left--) {
    const client = new StoreClient(config);
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}

/** The server ends a session whose client has vanished within about 11 s, also if nothing is under way in it. */
export const GONE_CLIENTS = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10000',
};

/**
 * Connection settings shared by all pools. The server's own time-outs only clean up after a client that gave up. They
 * do nothing against a stopped server, so no caller relies on them.
 */
export function clientConfig(
  databaseUrl: string,
  deadlineMs: number,
  settings: Readonly<Record<string, string>> = {},
): StoreClientConfig {
  return {
    databaseUrl,
    types: columnTypes,
    keepAlive: true,
    application_name: 'svc',
    settings: {
      default_transaction_isolation: 'read committed',
      // No statement here runs long enough to be worth compiling, and a wrong estimate would trigger compilation.
      jit: 'off',
      statement_timeout: `${deadlineMs}`,
      idle_in_transaction_session_timeout: `${deadlineMs}`,
      ...GONE_CLIENTS,
      ...settings,
    },
  };
}
