/**
 * A pg client whose socket can be torn down at once, and whose session is prepared before anybody has it. `end()` alone
 * says goodbye and waits for the server, which never comes from one that is stopped.
 */
import { Socket } from 'node:net';
import { StoreError } from '@svc/service';
import pg from 'pg';
import { type Servers, serversOf } from './servers.ts';
import { columnTypes } from './type-parsers.ts';

export interface StoreClientConfig extends pg.ClientConfig {
  readonly databaseUrl?: string;
  /** Set in the session, by a statement: what a connection asks for at its start does not pass every pooler. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** For the statement that prepares a session. Opening the connection has a limit of its own. */
const PREPARE_MS = 2_000;

/**
 * `off` and `local` would acknowledge what the loss of one machine takes away, whoever configured them for the role,
 * the database or the server. That the wait for the standby was cut off is told by a warning and by nothing else, so
 * warnings are not hidden. Set for the session, so a later change of the configuration does not reach it.
 */
const prepareSql = `
  select set_config('synchronous_commit',
      case when current_setting('synchronous_commit') in ('off', 'local') then 'on'
        else current_setting('synchronous_commit') end, false),
    set_config('client_min_messages', 'warning', false),
    current_setting('transaction_read_only') = 'on' as "isReadOnly",
    extract(epoch from pg_postmaster_start_time())::text as server, pg_backend_pid() as pid,
    (select count(set_config(name, value, false)) from unnest($1::text[], $2::text[]) as wanted (name, value))`;

/** The place in PostgreSQL that warns of it. Its text depends on the server's language, its code says nothing. */
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
    // An 'error' event that nobody hears would end the process. Whoever uses the connection learns from its statements.
    this.on('error', () => {});
    this.on('notice', ({ routine }) => {
      this.#isUnreplicated ||= routine === WAIT_FOR_STANDBY;
    });
  }

  /** Rejects where the server was not reached, or is not one that is wanted: it takes no writes, or takes them. */
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

  /** A process that ends does not wait for it. */
  unref(): void {
    this.#socket.unref();
  }

  /**
   * The server's process, by the microsecond of its start: no two servers have the same, nor one after a restart. Not by its
   * address: one server may be reached by several, as where a name has an IPv4 and an IPv6 address.
   */
  get server(): string {
    return this.#server;
  }

  /** Process id of its session on that server. */
  get pid(): number {
    return this.#pid;
  }

  /**
   * A wait for the standby was cancelled: what was committed meanwhile is on this server only, although it was answered as if all
   * were well.
   */
  get isUnreplicated(): boolean {
    return this.#isUnreplicated;
  }

  /** New connections go to another server, where there are several. */
  passBy(): void {
    this.#servers.passBy(this.#url);
  }

  /** `reason`: what the statement under way, and who hears of idle connections, learn. */
  destroy(reason?: Error): void {
    this.#socket.destroy(reason);
  }
}

/** A connection of one's own, to the first server that is of use, asked in turn. Rejects as the last of them did. */
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

/** A session whose client is gone without a word ends within about 11 s, also where nothing is under way in it. */
export const GONE_CLIENTS = {
  tcp_keepalives_idle: '5',
  tcp_keepalives_interval: '2',
  tcp_keepalives_count: '3',
  tcp_user_timeout: '10000',
};

/**
 * Connection settings shared by all pools. The server's own time-outs only tidy up behind a client that gave
 * up: they do nothing against a stopped server, so no caller relies on them.
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
      // No statement here runs long enough to be worth compiling, and an estimate that is off by much would have it so.
      jit: 'off',
      statement_timeout: `${deadlineMs}`,
      idle_in_transaction_session_timeout: `${deadlineMs}`,
      ...GONE_CLIENTS,
      ...settings,
    },
  };
}
