/** A PostgreSQL as Debian installs it, with pg_dump and psql of its own: the embedded one comes without them. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { Client } from 'pg';

const BIN = '/usr/lib/postgresql/15/bin';
export const hasDebianPostgres = existsSync(join(BIN, 'pg_dump')) && existsSync(join(BIN, 'initdb'));

export interface DebianPostgres {
  /** A superuser's URL on a new, empty database. */
  createDatabase(name: string): Promise<string>;
  /** What `pg_dump FROM | psql TO` does, ending at the first error. */
  dumpInto(from: string, to: string): Promise<void>;
  stop(): void;
}

export async function startDebianPostgres(): Promise<DebianPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-debian-postgres-'));
  const data = join(folder, 'data');
  const asUser = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (asUser.uid !== undefined && asUser.gid !== undefined) chownSync(folder, asUser.uid, asUser.gid);
  const options = { ...asUser, cwd: folder, stdio: 'ignore' as const };
  const [port] = await findFreePorts(1);
  const run = (program: string, ...parameters: string[]) =>
    execFileSync(join(BIN, program), parameters, { ...options, timeout: 60_000 });
  run('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '-N', '--locale=C', '-E', 'UTF8');
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
  run('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), '-o', settings, 'start');
  const urlOf = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    createDatabase: async (name) => {
      const client = new Client({ connectionString: urlOf('postgres') });
      await client.connect();
      await client.query(`create database ${name} template template0`).finally(() => client.end());
      return urlOf(name);
    },
    dumpInto: async (from, to) => {
      const file = join(folder, 'dump.sql');
      await promisify(execFile)(join(BIN, 'pg_dump'), ['--file', file, from], { ...asUser, cwd: folder });
      const parameters = ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', file, to];
      await promisify(execFile)(join(BIN, 'psql'), parameters, { ...asUser, cwd: folder });
    },
    stop: () => {
      spawnSync(join(BIN, 'pg_ctl'), ['-D', data, '-m', 'immediate', '-w', 'stop'], options);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const idOf = (flag: '-u' | '-g'): number =>
  Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
