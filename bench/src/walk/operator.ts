/** The operator: programs as folders, a production of one's own, a backup that is restored. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Place } from './developer.ts';
import type { Steps } from './steps.ts';

const PATH = 'operator';
const ADMIN_TOKEN = 'an-admin-token-of-this-walk-0123456789';

export const walkAsOperator = async (steps: Steps, place: Place): Promise<void> => {
  const { folder, clone, ports } = place;
  const [, , , port, adminPort, serverPort = 0] = ports;
  const packed = join(folder, 'packed');
  await steps.time(PATH, 'npm run pack:apps', () => {
    steps.run('npm run build', clone);
    steps.run(`npm run pack:apps -- --out ${packed}`, clone);
  });
  const etc = join(folder, 'etc');
  mkdirSync(join(etc, 'fence'), { recursive: true, mode: 0o700 });
  const server = startPostgres(steps, serverPort);
  try {
    const { database, bin, sql } = server;
    sql('create database svc');
    const env = {
      ...{ SVC_ENV: 'production', SVC_DOMAIN: 'svc.example', SVC_BASE_URL: 'https://svc.example' },
      ...{ SVC_PORT: `${port}`, SVC_ADMIN_PORT: `${adminPort}`, SVC_ADMIN_TOKEN: ADMIN_TOKEN },
      ...{ SVC_RECEIPT_KEYS: join(etc, 'receipt.json'), SVC_STATUS_KEYS: join(etc, 'status.json') },
      ...{ SVC_FENCE: `file://${join(etc, 'fence')}`, DATABASE_URL: database('svc') },
    };
    const admin = (words: string, expected = '', more = {}) =>
      steps.run(`node ${packed}/admin/main.js ${words}`, folder, { expected, env: { ...env, ...more } });
    await steps.time(PATH, 'database migrated, keys created, config check', () => {
      admin('migrate');
      admin('keys create receipt');
      admin('keys create status');
      admin('config check');
    });
    const api = await steps.time(PATH, 'API from a packed folder, a relying party registered', async () => {
      const started = await steps.start(`node ${packed}/api/main.js`, folder, 'listening', env);
      admin(`relying-party create --slug shop --api http://127.0.0.1:${port}`, 'dk_rp_');
      return started;
    });
    await steps.time(PATH, 'one round of the worker', () =>
      steps.run(`node ${packed}/worker/main.js --once`, folder, { env: { ...env, SVC_ADMIN_PORT: '0' } }),
    );
    await steps.time(PATH, 'fsck', () => admin('fsck', 'No faults.'));
    await steps.time(PATH, 'pg_dump, restored elsewhere, fsck', () => {
      sql('create database restored');
      steps.run(`${bin}/pg_dump -Fc '${database('svc')}' >svc.dump`, folder);
      steps.run(`${bin}/pg_restore --no-owner -d '${database('restored')}' svc.dump`, folder);
      admin('fsck', 'No faults.', { DATABASE_URL: database('restored') });
    });
    await api.stop();
  } finally {
    server.stop();
  }
};

/** The PostgreSQL of Debian, whose pg_dump is of its version; as nobody, since it refuses to be root's. */
const startPostgres = (steps: Steps, port: number) => {
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
