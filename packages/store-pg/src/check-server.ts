/**
 * Refuses servers whose faults no query can make up for: a server that does not write commits through to disk, and a
 * pooler that changes sessions between statements.
 */
import { StoreError } from '@svc/service';
import { openClient, type StoreClient } from './client.ts';
import { toUnavailable } from './errors.ts';
import { serversOf } from './servers.ts';
import { CONNECTIONS_OF_OPERATORS, CONNECTIONS_OF_PROCESS } from './store-limits.ts';

const CONNECT_MS = 5_000;
const quickly = (databaseUrl: string) => ({
  databaseUrl,
  connectionTimeoutMillis: CONNECT_MS,
  query_timeout: CONNECT_MS,
});

/** A pooler hands out the server connection that was used last. Another client may have taken it meanwhile. */
const TRIES = 3;

const stateSql = `
  select current_setting('fsync') as "fsync", current_setting('full_page_writes') as "full_page_writes",
    pg_backend_pid() as pid`;

/** Number of connections that the server accepts, and the limits of the database and of the role. */
const connectionsSql = `
  select current_setting('max_connections')::int as most,
    current_setting('superuser_reserved_connections')::int
      + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
    least((select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
      (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as "limit"`;

type State = { readonly [setting in 'fsync' | 'full_page_writes']: string } & { readonly pid: number };

/**
 * Rejects with `StoreError` `refused`, in a sentence for the operator: behind a pooler that shares sessions (PgBouncer
 * with `pool_mode` transaction or statement), and where `mustBeDurable`, on a server that loses acknowledged commits in
 * a crash.
 */
export async function checkServer(
  databaseUrl: string,
  { mustBeDurable }: { readonly mustBeDurable: boolean },
): Promise<void> {
  const clients: StoreClient[] = [];
  try {
    while (clients.length < 2) clients.push(await openClient(quickly(databaseUrl)));
    for (let tried = 0; tried < TRIES; tried++) {
      const states: State[] = [];
      for (const client of clients) states.push(...(await client.query<State>(stateSql)).rows);
      const [first, second] = states;
      if (first === undefined || first.pid === second?.pid) throw sharedSessions();
      if (mustBeDurable) assertDurable(first);
    }
  } catch (error) {
    throw toUnavailable(error);
  } finally {
    for (const client of clients) client.destroy();
  }
}

/** Processes of the API, and workers. */
export interface Fleet {
  /** For display: `two nodes and a worker`. */
  readonly name: string;
  readonly processes: number;
}

/**
 * Rejects with `StoreError` `refused`, in a sentence for the operator, where the server takes fewer connections than
 * the fleet may open.
 */
export async function checkConnections(databaseUrl: string, { name, processes }: Fleet): Promise<void> {
  const client = await openClient(quickly(databaseUrl));
  try {
    type ConnectionLimits = {
      readonly most: number;
      readonly reserved: number;
      readonly limit: number | null;
    };
    const [{ most, reserved, limit } = { most: 0, reserved: 0, limit: null }] = (
      await client.query<ConnectionLimits>(connectionsSql)
    ).rows;
    const needed = processes * CONNECTIONS_OF_PROCESS + CONNECTIONS_OF_OPERATORS;
    const want = `${name} may open ${processes * CONNECTIONS_OF_PROCESS}, and operators want ${CONNECTIONS_OF_OPERATORS}`;
    if (most - reserved < needed)
      throw new StoreError(
        'refused',
        `max_connections is ${most}, ${reserved} of them reserved; ${want}: set max_connections = ${needed + reserved} or more, and restart PostgreSQL`,
      );
    if (limit !== null && limit < needed)
      throw new StoreError(
        'refused',
        `the database or the role is limited to ${limit} connections; ${want}: raise the limit to ${needed} or more`,
      );
  } finally {
    client.destroy();
  }
}

/** Makes the checks that apply to a replica, on the server in `DATABASE_READ_URL`, which must be a standby. */
export async function checkReplica(readUrl: string): Promise<void> {
  serversOf(readUrl, 'replica');
  await checkServer(readUrl, { mustBeDurable: false });
}

const assertDurable = (state: State): void => {
  for (const setting of ['fsync', 'full_page_writes'] as const)
    if (state[setting] !== 'on')
      throw new StoreError(
        'refused',
        `the database server has ${setting} = ${state[setting]}: a crash would take away answers that were given. Set ${setting} = on`,
      );
};

const sharedSessions = (): StoreError =>
  new StoreError(
    'refused',
    'two connections got one session of the server: a pooler in between shares sessions between clients. ' +
      'Prepared statements and locks of sessions do not survive that: use pool_mode = session (PgBouncer), or connect directly',
  );
