/** Closes today as if it were over: real Receipts are of today, and only closed days have checkpoints. */
import { loadSecrets } from '@svc/config';
import { createLogger, openService, readConfig } from '@svc/process';
import { DAY_MS } from '@svc/protocol';
import { type ClosedDays, closeDays, type ServiceDeps } from '@svc/service';
import { ADMIN_TOKEN, DOMAIN } from './api-node.ts';
import type { Deployment } from './deployment.ts';

/** `dataDir` is the deployment's, with its signing keys. `then` uses the same service before it is closed. */
export const closeToday = async (
  { databaseUrl, sql }: Pick<Deployment, 'databaseUrl' | 'sql'>,
  dataDir: string,
  work: (service: ServiceDeps) => Promise<void> = async () => {},
): Promise<ClosedDays> => {
  const config = readConfig({
    DATABASE_URL: databaseUrl,
    SVC_BASE_URL: `http://${DOMAIN}`,
    SVC_DOMAIN: DOMAIN,
    SVC_DATA_DIR: dataDir,
    SVC_ADMIN_TOKEN: ADMIN_TOKEN,
  });
  const secrets = await loadSecrets(config);
  const { service, close } = await openService({
    ...{ config, secrets, databaseUrl },
    logger: createLogger('warn'),
  });
  const replaced = await closeEveryDay(sql);
  try {
    const tomorrowMs = (Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS;
    const closed = await closeDays({
      ...service,
      clock: { nowMs: () => tomorrowMs, resync: async () => {} },
    });
    await work(service);
    return closed;
  } finally {
    await close();
    await sql.query(replaced);
  }
};

/** Returns the text of the function that it has replaced. */
const closeEveryDay = async (sql: Deployment['sql']): Promise<string> => {
  const { rows } = await sql.query<{ text: string }>(
    `select pg_get_functiondef('svc_close_day'::regproc) as text`,
  );
  await sql.query(`create or replace function svc_close_day(p_day date) returns boolean language sql as
    $$ insert into closed_days (day) values (p_day) on conflict do nothing; select true $$`);
  return rows[0]?.text ?? '';
};
