/** Expired data is removed even if a worker dies meanwhile; data that has not expired stays (interface §Limits). */
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { untilAlone } from '@svc/testkit/store/session';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runOnce, startWorker } from './harness.ts';

const ROWS = sampled({ quick: 6_000, deep: 100_000 });

const database = withDatabase();
let sql: Client;
beforeAll(async () => {
  sql = new Client({ connectionString: database.url });
  await sql.connect();
});
afterAll(() => sql?.end());

const count = async (table: string): Promise<number> => {
  const { rows } = await sql.query<{ count: string }>(`select count(*) from ${table}`);
  return Number(rows[0]?.count);
};

it(`after a worker was killed amid ${ROWS} expired rows, the next one removes the rest, and live rows stay`, async () => {
  await sql.query(
    `insert into spent_proofs (grant_id, jti, expires_at)
     select 'g', 'old-' || n, now() - interval '2 hours' from generate_series(1, ${ROWS}) as n
     union all select 'g', 'live-' || n, now() + interval '1 minute' from generate_series(1, 100) as n`,
  );
  await sql.query(
    `insert into idempotency_keys (relying_party, key, body_hash, receipt_id, created_at)
     select 'rp', 'old-' || n, 'h', 'drc', now() - interval '2 hours' from generate_series(1, 1000) as n
     union all select 'rp', 'live', 'h', 'drc', now()`,
  );
  const options = { databaseUrl: database.url, hosts: {} };
  const worker = startWorker(options);
  while ((await count('spent_proofs')) === ROWS + 100)
    if (worker.log.some((line) => /failed/.test(line))) break;
  worker.signal('SIGKILL');
  await worker.ended;
  await untilAlone(database.url, 1);
  await runOnce(options);
  expect(await count('spent_proofs')).toBe(100);
  expect(await count(`spent_proofs where jti like 'live-%'`)).toBe(100);
  expect(await count('idempotency_keys')).toBe(1);
});
