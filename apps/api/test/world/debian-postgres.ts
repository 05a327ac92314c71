/** A PostgreSQL as Debian installs it, with its pg_dump, psql and pg_upgrade, which the embedded one lacks. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { Client } from 'pg';

const HOME = '/usr/lib/postgresql';
const has = (version: number, ...programs: readonly string[]): boolean =>
  programs.every((program) => existsSync(join(HOME, String(version), 'bin', program)));

const versions = (existsSync(HOME) ? readdirSync(HOME) : []).map(Number).filter((version) => version >= 15);
/** Versions of which the server and pg_dump are installed, oldest first. */
export const debianVersions: readonly number[] = versions
  .filter((version) => has(version, 'initdb', 'pg_ctl', 'pg_dump', 'psql'))
  .sort((left, right) => left - right);

/**
 * The oldest and the newest installed server; the same version twice where there is only one, which pg_upgrade accepts.
 * Null where pg_upgrade is missing.
 */
export const upgradePath: { readonly from: number; readonly to: number } | null = (() => {
  const from = debianVersions[0];
  const to = debianVersions.findLast((version) => has(version, 'pg_upgrade'));
  return from === undefined || to === undefined ? null : { from, to };
})();

export interface DebianPostgres {
  /** Creates an empty database; returns a superuser's URL. */
  createDatabase(name: string): Promise<string>;
  /** Runs `pg_dump FROM | psql TO`, ending at the first error. `to` may be on another server. */
  dumpInto(from: string, to: string): Promise<void>;
  /** Turns on TLS with this certificate for `localhost`. */
  takeTls(leaf: { readonly cert: string; readonly key: string }): Promise<void>;
  /** Upgrades the server to that version with `pg_upgrade`. The URLs stay the same. */
  upgradeTo(version: number): void;
  /** Starts a standby made with `pg_basebackup`, which ends with this server. Returns the URL of a database on it. */
  startStandby(name: string): Promise<string>;
  stop(): void;
}

const INITDB = ['-U', 'postgres', '-A', 'trust', '-N', '--locale=C', '-E', 'UTF8'];

export async function startDebianPostgres(version = debianVersions[0] ?? 15): Promise<DebianPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-debian-postgres-'));
  const asUser = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (asUser.uid !== undefined && asUser.gid !== undefined) chownSync(folder, asUser.uid, asUser.gid);
  const options = { ...asUser, cwd: folder, stdio: 'ignore' as const };
  const port = await findFreePort();
  const binOf = (of: number) => join(HOME, String(of), 'bin');
  const dataOf = (of: number, which = 'data') => join(folder, `${which}-${of}`);
  const run = (of: number, program: string, ...parameters: string[]) =>
    execFileSync(join(binOf(of), program), parameters, { ...options, timeout: 120_000 });
  const start = (of: number, data: string, at = port) => {
    const settings = `-p ${at} -k ${folder} -c listen_addresses=127.0.0.1 -c fsync=off`;
    run(of, 'pg_ctl', '-D', data, '-w', '-l', join(folder, `log-${at}`), '-o', settings, 'start');
  };
  const standbys: string[] = [];
  let running = { version, data: dataOf(version) };
  run(version, 'initdb', '-D', running.data, ...INITDB);
  start(version, running.data);
  const urlOf = (name: string, at = port) => `postgres://postgres@127.0.0.1:${at}/${name}`;
  return {
    createDatabase: async (name) => {
      const client = new Client({ connectionString: urlOf('postgres') });
      await client.connect();
      await client.query(`create database ${name} template template0`).finally(() => client.end());
      return urlOf(name);
    },
    dumpInto: async (from, to) => {
      const file = join(folder, 'dump.sql');
      const bin = binOf(running.version);
      await promisify(execFile)(join(bin, 'pg_dump'), ['--no-owner', '--file', file, from], {
        ...asUser,
        cwd: folder,
      });
      const parameters = ['--quiet', '--no-psqlrc', '--set', 'ON_ERROR_STOP=1', '--file', file, to];
      await promisify(execFile)(join(bin, 'psql'), parameters, { ...asUser, cwd: folder });
    },
    takeTls: async ({ cert, key }) => {
      for (const [name, text] of [
        ['server.crt', cert],
        ['server.key', key],
      ] as const) {
        const path = join(running.data, name);
        writeFileSync(path, text, { mode: 0o600 });
        if (asUser.uid !== undefined && asUser.gid !== undefined) chownSync(path, asUser.uid, asUser.gid);
      }
      const client = new Client({ connectionString: urlOf('postgres') });
      await client.connect();
      await client.query('alter system set ssl = on');
      await client.query('select pg_reload_conf()').finally(() => client.end());
    },
    upgradeTo: (to) => {
      const old = running;
      running = { version: to, data: dataOf(to, 'upgraded') };
      run(old.version, 'pg_ctl', '-D', old.data, '-m', 'fast', '-w', 'stop');
      run(to, 'initdb', '-D', running.data, ...INITDB);
      const bins = ['-b', binOf(old.version), '-B', binOf(to)];
      const place = ['-d', old.data, '-D', running.data, '-s', folder, '-U', 'postgres'];
      run(to, 'pg_upgrade', ...bins, ...place, '-o', '-c fsync=off', '-O', '-c fsync=off');
      start(to, running.data);
    },
    startStandby: async (name) => {
      const at = await findFreePort();
      const data = dataOf(running.version, `standby-${at}`);
      run(running.version, 'pg_basebackup', '-D', data, '-R', '-c', 'fast', '-d', urlOf(''));
      standbys.push(data);
      start(running.version, data, at);
      return urlOf(name, at);
    },
    stop: () => {
      for (const data of [...standbys, running.data]) {
        const end = ['-D', data, '-m', 'immediate', '-w', 'stop'];
        spawnSync(join(binOf(running.version), 'pg_ctl'), end, options);
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const idOf = (flag: '-u' | '-g'): number =>
  Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
