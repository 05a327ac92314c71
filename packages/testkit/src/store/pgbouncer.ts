/** A real PgBouncer in front of a database, where Debian's package is installed. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../process/free-ports.ts';
import { runSql } from './session.ts';

export const PGBOUNCER = '/usr/sbin/pgbouncer';
export const hasPgBouncer = existsSync(PGBOUNCER);

export type PoolMode = 'session' | 'transaction' | 'statement';

export interface PgBouncer {
  /** The same database through PgBouncer. */
  readonly url: string;
  stop(): Promise<void>;
}

export const startPgBouncer = async (databaseUrl: string, poolMode: PoolMode): Promise<PgBouncer> => {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const ownPort = await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'svc-pgbouncer-'));
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(join(folder, 'users'), `"${username}" "${decodeURIComponent(password)}"\n`);
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${ownPort}
unix_socket_dir =
auth_type = plain
auth_file = ${join(folder, 'users')}
pool_mode = ${poolMode}
`,
  );
  // PgBouncer refuses to run as root.
  const isRoot = process.getuid?.() === 0;
  for (const path of [folder, file, join(folder, 'users')]) chmodSync(path, path === folder ? 0o755 : 0o644);
  const child = spawn(PGBOUNCER, [...(isRoot ? ['-u', 'nobody'] : []), file], { stdio: 'ignore' });
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    child.kill('SIGINT');
    await ended;
    rmSync(folder, { recursive: true });
  };
  const url = `postgres://${username}:${password}@127.0.0.1:${ownPort}${pathname}`;
  for (;;) {
    const isUp = await runSql(url, 'select 1').then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code !== 'ECONNREFUSED',
    );
    if (isUp) return { url, stop };
  }
};
