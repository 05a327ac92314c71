/** A follower of the checkpoints with `svc-receipt monitor` detects that the service itself rewrites a day. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { daysAgo, insertReceipts, moveFirstDay, receiptIdsOf, tamper } from '@svc/testkit';
import { programFile } from '@svc/testkit/process/program-file';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withProcesses } from '../world/deployment.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-monitor-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const deployment = withProcesses();
const cli = programFile('packages/cli', 'svc-receipt.js');

const [first, second, third] = [daysAgo(3), daysAgo(2), daysAgo(1)];
const close = () => deployment.call('POST', '/checkpoints/close', { key: ADMIN_TOKEN });
const didFile = join(folder, 'did.json');

const monitor = (state = 'state.json') => {
  const { baseUrl } = deployment.process;
  const options = ['--did-document', didFile, '--state', join(folder, state), '--json'];
  const { status, stdout } = spawnSync(process.execPath, [cli, 'monitor', baseUrl, ...options], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  return { status, look: JSON.parse(stdout) };
};

beforeAll(async () => {
  writeFileSync(didFile, (await deployment.call('GET', '/.well-known/did.json')).text);
  await moveFirstDay(deployment.databaseUrl, first);
  await insertReceipts(deployment.databaseUrl, receiptIdsOf(first, 700), [first]);
  await insertReceipts(deployment.databaseUrl, receiptIdsOf(third, 3), [third]);
});

/** Reopens this day and all later ones, which only the operator of the database can do. */
const reopen = async (day: string) => {
  for (const table of ['merkle_tiles', 'checkpoints', 'content_checks', 'closed_days'])
    await tamper(deployment.databaseUrl, `delete from ${table} where day >= $1`, [day]);
};

it('svc-receipt monitor accepts newly closed days, and raises alarms when a day is closed again with another root', async () => {
  // Nothing is compared with the pin yet: no day is closed, and the service is not asked at the address of its DID.
  expect(monitor()).toMatchObject({ status: 2, look: { verdict: 'undecided', days: { count: 0 } } });
  expect((await close()).status).toBe(200);
  expect(monitor()).toMatchObject({
    status: 0,
    look: { verdict: 'well', days: { first, last: third, count: 3, new: 3 } },
  });
  const before = (await deployment.call('GET', `/checkpoints/${second}`)).json.root;

  await reopen(second);
  await insertReceipts(deployment.databaseUrl, receiptIdsOf(second, 1), [second]);
  expect(monitor()).toMatchObject({
    status: 1,
    look: {
      alarms: [
        { code: 'vanished-day', day: third },
        { code: 'rolled-back', day: third, now: first },
        { code: 'vanished-day', day: second },
      ],
    },
  });
  expect((await close()).json).toMatchObject({ closed: [second, third] });
  const { status, look } = monitor();
  const now = (await deployment.call('GET', `/checkpoints/${second}`)).json.root;
  expect([status, now === before]).toEqual([1, false]);
  expect(look.alarms).toMatchObject([
    { code: 'changed-day', day: third, message: expect.stringContaining('previous_root') },
    { code: 'changed-day', day: second, message: expect.stringContaining('tree_size'), seen: '0', now: '1' },
  ]);
  // A monitor that starts later cannot tell it from any other service.
  expect(monitor('another.json').status).toBe(0);
});

it('svc-receipt monitor raises wrong-leaves when the leaves do not match the checkpoint', async () => {
  await tamper(deployment.databaseUrl, 'update receipts set receipt_id = $2 where receipt_id = $1', [
    (await deployment.sql.query('select min(receipt_id) as id from receipts')).rows[0].id,
    receiptIdsOf(first, 1)[0],
  ]);
  expect(monitor('third.json')).toMatchObject({
    status: 1,
    look: { alarms: [{ code: 'wrong-leaves', day: first }] },
  });
});
