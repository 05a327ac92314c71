/** Stopping a process loses nothing: no request is cut, no answered decision is missing, the process ends by itself. */
import { withDatabase } from '@svc/testkit';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import { startApiProcesses } from '../world/api-process.ts';
import { call, createTenants, issueGrant, receiptOf, verifyBody } from '../world/tenants.ts';

const database = withDatabase();

it('SIGTERM under load: every request sent before is answered, every answered decision is stored, exit code 0', async () => {
  const api = await startApiProcesses(1, database.url);
  const [one] = api.processes;
  if (one === undefined) throw new Error('no process');
  try {
    const tenants = await createTenants(one.baseUrl);
    const grant = await issueGrant(tenants);
    const bodies = await Promise.all(Array.from({ length: 400 }, () => verifyBody(tenants, grant)));
    const answered: string[] = [];
    const failed: unknown[] = [];
    let exit: Promise<number | null> | undefined;
    let next = 0;
    const client = async () => {
      for (let body = bodies[next++]; body !== undefined && exit === undefined; body = bodies[next++])
        try {
          answered.push(
            receiptOf(await call(one.baseUrl, 'POST', '/verify', { key: tenants.rpKey, body })).receipt_id,
          );
          if (answered.length === 100) exit = one.stop();
        } catch (error) {
          failed.push(error);
        }
    };
    await Promise.all(Array.from({ length: 16 }, client));
    expect(failed).toEqual([]);
    expect(await exit).toBe(0);
    const sql = new Client({ connectionString: database.url });
    await sql.connect();
    const { rows } = await sql.query<{ receipt_id: string }>('select receipt_id from receipts');
    await sql.end();
    const stored = new Set(rows.map(({ receipt_id: id }) => id));
    expect(answered.filter((id) => !stored.has(id))).toEqual([]);
    expect(answered.length).toBeGreaterThanOrEqual(100);
  } finally {
    await api.stop();
  }
});
