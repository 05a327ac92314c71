/**
 * An export that either side breaks off: where the client disconnects, the work ends and holds no resource; where
 * storage fails, the body is cut off. Observed from a proxy between the service and its database.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { withDatabase } from '@svc/testkit';
import { type CuttingProxy, startCuttingProxy } from '@svc/testkit/store/cutting-proxy';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { ApiNodes } from '../world/api-node.ts';
import { startSeparateNodes } from '../world/api-process.ts';
import { insertDecisionRows, newDecisionRow } from '../world/decision-rows.ts';
import { call, createTenants, issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';

/** Occurs in the statement that reads rows of an export, and in no other. */
const READS_ROWS = 'outcomeChars';
const ROWS = 2_500;
const STORED = ROWS - 1;

const database = withDatabase();
let proxy: CuttingProxy;
let api: ApiNodes;
let sql: Client;
let shop: Tenants;

beforeAll(async () => {
  proxy = await startCuttingProxy(database.url, READS_ROWS);
  api = await startSeparateNodes(1, proxy.url);
  sql = new Client({ connectionString: database.url });
  await sql.connect();
  shop = await createTenants(baseUrl());
  const body = await verifyBody(shop, await issueGrant(shop));
  const { receipt } = receiptOf(await call(baseUrl(), 'POST', '/verify', { key: shop.rpKey, body }));
  // Resources of the largest size: the page exceeds all buffers between service and client.
  const resource = 'r'.repeat(2_048);
  for (let at = 0; at < STORED; at += 500) {
    const rows = Array.from({ length: Math.min(500, STORED - at) }, (_, i) =>
      newDecisionRow(Date.now() - 20_000 + at + i, {
        rp: shop.rpDid,
        principal: shop.principalDid,
        resource,
      }),
    );
    await insertDecisionRows(sql, rows, receipt);
  }
}, 60_000);
afterAll(async () => {
  await sql?.end();
  await api?.stop();
  await proxy?.close();
}, 60_000);
beforeEach(() => proxy.setMode('pass'));

const baseUrl = () => api.processes[0]?.baseUrl ?? '';
const log = () => api.processes[0]?.log ?? [];

/** Resolves with the answer once its headers have arrived; none of its body is read. */
const beginExport = async (requestId = 'export'): Promise<IncomingMessage> => {
  const headers = { authorization: `Bearer ${shop.rpKey}`, 'x-request-id': requestId };
  const sent = request(`${baseUrl()}/decisions/export`, { headers });
  sent.on('error', () => {}).end();
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('no answer');
  expect([response.statusCode, response.headers['x-svc-rows']]).toEqual([200, String(ROWS)]);
  return response;
};

const readLines = async (response: IncomingMessage): Promise<number> => {
  let lines = 0;
  for await (const chunk of response.setEncoding('utf8')) lines += (chunk as string).split('\n').length - 1;
  return lines;
};

/** The logged status of a request; 0 is an answer that did not end. */
const statusLogged = (requestId: string) =>
  expect.poll(() => {
    const line = log().find((one) => one.includes(`"requestId":"${requestId}"`) && one.includes('"status"'));
    return line === undefined ? null : JSON.parse(line).status;
  });
/** Connections of the service that are not idle in their pool. */
const busyConnections = async (): Promise<number> => {
  const { rows } = await sql.query(
    `select 1 from pg_stat_activity
     where datname = current_database() and application_name = 'svc' and state <> 'idle'`,
  );
  return rows.length;
};

it('an export to a slow client is complete, and uses no database connection while it waits', async () => {
  const response = await beginExport();
  await once(response, 'readable');
  await expect.poll(busyConnections).toBe(0);
  expect(await readLines(response)).toBe(ROWS);
});

it('an export stops reading and releases its connections when the client disconnects', async () => {
  const before = proxy.seen;
  expect(await readLines(await beginExport())).toBe(ROWS);
  const readsOfAll = proxy.seen - before;
  const response = await beginExport('gone');
  await once(response, 'readable');
  response.destroy();
  await statusLogged('gone').toBe(0);
  await expect.poll(busyConnections).toBe(0);
  expect((await call(baseUrl(), 'GET', '/decisions', { key: shop.rpKey })).status).toBe(200);
  expect(proxy.seen - before).toBeLessThan(2 * readsOfAll);
});

it('an export ends with a connection error when storage fails in the middle, never as a complete body', async () => {
  const response = await beginExport('broken');
  await once(response, 'readable');
  await expect.poll(busyConnections).toBe(0);
  proxy.setMode('cut-before');
  await expect(readLines(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(response.complete).toBe(false);
  await statusLogged('broken').toBe(0);
  expect(await readLines(await beginExport())).toBe(ROWS);
});

it('an export is a 503 when storage fails before the first row', async () => {
  // All connections are cut: batches are read two at a time, and one that still passed could contain the first row.
  proxy.setMode('cut-all');
  const { status, text } = await call(baseUrl(), 'GET', '/decisions/export', { key: shop.rpKey });
  expect([status, JSON.parse(text)]).toMatchObject([503, { error: 'SERVICE_UNAVAILABLE' }]);
});
