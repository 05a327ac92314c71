/**
 * Work that one node does at a time: a session advisory lock (its space, the hash of the name) on a connection of its
 * own. The holder sends a statement regularly, since a stopped server or a cut cable closes no socket. The server ends
 * the session when no statement arrives; keep-alives are not enough, since the kernel answers them for a process that
 * is suspended. The lock is not a fence: a holder that lost it may still be at work when the next one begins.
 */
import { type Exclusive, StoreError } from '@svc/service';
import { clientConfig, StoreClient } from './client.ts';
import { toStoreError } from './errors.ts';
import { LOCK_SPACES } from './locks.ts';

interface Limits {
  readonly connectMs: number;
  readonly readMs: number;
  /** The session, and the lock, end after this time without a statement. */
  readonly idleMs?: number;
}

const IDLE_MS = 20_000;
const SIGNS_OF_LIFE = 10;

/** See `Store.exclusive`. */
export async function runExclusive<T>(
  databaseUrl: string,
  { connectMs, readMs, idleMs = IDLE_MS }: Limits,
  name: string,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<Exclusive<T>> {
  const client = new StoreClient({
    ...clientConfig(databaseUrl, readMs, { idle_session_timeout: `${idleMs}` }),
    connectionTimeoutMillis: connectMs,
    query_timeout: readMs,
  });
  const lost = new AbortController();
  const lose = () => lost.abort(new StoreError('unavailable', `the lock of ${name} is lost`));
  client.on('error', lose);
  client.on('end', lose);
  let pulse: NodeJS.Timeout | undefined;
  try {
    if (!(await tryLock(client, name))) return { held: false };
    pulse = setInterval(() => void client.query('select 1').catch(lose), idleMs / SIGNS_OF_LIFE);
    return { held: true, value: await work(lost.signal) };
  } finally {
    clearInterval(pulse);
    // The lock ends with the session, however that ends.
    const cut = setTimeout(() => client.destroy(), readMs);
    await client.end().catch(() => {});
    clearTimeout(cut);
    client.destroy();
  }
}

async function tryLock(client: StoreClient, name: string): Promise<boolean> {
  try {
    await client.connect();
    const { rows } = await client.query<{ held: boolean }>(
      `select pg_try_advisory_lock(${LOCK_SPACES.exclusiveWork}, hashtext($1)) as held`,
      [name],
    );
    return rows[0]?.held === true;
  } catch (error) {
    throw toStoreError(error, 'nothing');
  }
}
