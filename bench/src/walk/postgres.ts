/**
 * Debian's PostgreSQL, whose pg_dump has the same version. Where root starts it, it runs as `nobody`, since it refuses
 * to run as root.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Steps } from './steps.ts';

export const startPostgres = (steps: Steps, port: number) => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-walk-postgres-'));
  const run = (line: string) => steps.run(line, folder);
  const bin = run('ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1').trim();
  const isRoot = process.getuid?.() === 0;
  if (isRoot) run('chown nobody .');
  const program = (line: string) =>
    run(`${isRoot ? 'setpriv --reuid=nobody --regid=nogroup --clear-groups ' : ''}${bin}/${line}`);
  program('initdb -D data -U postgres -A trust');
  program(
    `pg_ctl -D data -w -l log -o '-p ${port} -k ${folder} -c listen_addresses=127.0.0.1' start >start.log`,
  );
  const database = (name: string) => `postgres://postgres@127.0.0.1:${port}/${name}`;
  return {
    ...{ bin, database },
    sql: (text: string) => run(`${bin}/psql -qX '${database('postgres')}' -c '${text}'`),
    stop: () => {
      program('pg_ctl -D data -m fast -w stop');
      rmSync(folder, { recursive: true });
    },
  };
};
