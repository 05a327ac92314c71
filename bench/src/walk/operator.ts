/** The operator's part: programs as folders, an own production, a backup that is restored. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Place } from './developer.ts';
import { startPostgres } from './postgres.ts';
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
