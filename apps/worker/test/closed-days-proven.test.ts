/** Every stored byte of days that the worker has closed is checked: any change outside the service is found. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkDatabase } from '@svc/fsck';
import { awayFromMidnight, daysAgo, tamper, withDatabase } from '@svc/testkit';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { runSql, withSession } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorker } from './harness.ts';
import { makeWorkForEveryJob } from './kill/work-for-every-job.ts';

await awayFromMidnight();
const database = withDatabase();
const keysDir = mkdtempSync(join(tmpdir(), 'svc-worker-days-'));
/** Days of 4, 0 and 300 receipts: the last has tiles. */
const [first, second, third] = [daysAgo(3), daysAgo(2), daysAgo(1)];

beforeAll(async () => {
  await makeWorkForEveryJob({ databaseUrl: database.url, keysDir });
  const worker = startWorker({ databaseUrl: database.url, keysDir, hosts: {}, parameters: ['--once'] });
  expect(await worker.ended).toBe(0);
  expect(await findFaults()).toEqual([]);
}, 30_000);
afterAll(() => rmSync(keysDir, { recursive: true, force: true }));

const findFaults = async (): Promise<string[]> => {
  const faults: string[] = [];
  await checkDatabase({
    databaseUrl: database.url,
    onFault: ({ check, where, problem }) => faults.push(`${check}: ${where}: ${problem}`),
  });
  return faults;
};

/** Faults after a change in the tables of a day; the change is undone afterwards. */
const faultsAfter = async (change: string): Promise<string[]> => {
  const tables = ['deployment', 'closed_days', 'checkpoints', 'merkle_tiles'];
  const each = (text: string) => tables.map((table) => text.replaceAll('$t', table)).join(';');
  await tamper(database.url, `${each('create table saved_$t as select * from $t')}; ${change}`);
  try {
    return await findFaults();
  } finally {
    await tamper(
      database.url,
      each('delete from $t; insert into $t select * from saved_$t; drop table saved_$t'),
    );
  }
};

const flip = (column: string, byte: number) =>
  `${column} = set_byte(${column}, ${byte}, get_byte(${column}, ${byte}) # 1)`;
/** Exchanges the checkpoints of two days, but not the names of the days. */
const swap = `update checkpoints a set (tree_size, root, jws, hash, content_root, first_receipt_id, last_receipt_id)
  = (select tree_size, root, jws, hash, content_root, first_receipt_id, last_receipt_id from checkpoints b
     where b.day = case a.day when '${first}' then date '${second}' else '${first}' end)
  where day <= '${second}'`;

describe('fsck', () => {
  const changes: [string, string, string][] = [
    ['a byte of a tile is flipped', `update merkle_tiles set ${flip('hashes', 33)}`, `trees: ${third}`],
    [
      'an id that leads into a tile is changed',
      `update merkle_tiles set first_receipt_ids[2] = first_receipt_ids[1]`,
      `trees: ${third}`,
    ],
    ['a tile is gone', 'delete from merkle_tiles', `trees: ${third}`],
    [
      'a tile is added',
      `insert into merkle_tiles select '${first}', level, index, hashes, first_receipt_ids from merkle_tiles`,
      `trees: ${first}`,
    ],
    [
      'a day that is not published has tiles',
      `insert into merkle_tiles select '${daysAgo(0)}', level, index, hashes, first_receipt_ids from merkle_tiles`,
      `closed days: ${daysAgo(0)}`,
    ],
    ['two days are swapped', swap, `chain: ${first}`],
    ['a day in the middle is gone', `delete from checkpoints where day = '${second}'`, `chain: ${third}`],
    [
      'the first day is gone, and the second says that it is the first',
      `delete from checkpoints where day = '${first}'; delete from closed_days where day = '${first}';
       update deployment set first_day = '${second}'`,
      `chain: ${second}: the first checkpoint names a day before it`,
    ],
    [
      'every checkpoint is gone',
      'delete from checkpoints; delete from merkle_tiles',
      `closed days: ${third}`,
    ],
    [
      'a published day is open again',
      `delete from closed_days where day = '${second}'`,
      `closed days: ${second}`,
    ],
  ];
  it.each(sampleOf(changes, 2))('finds a fault if %s', async (_, change, fault) => {
    expect((await faultsAfter(change)).join('\n')).toContain(fault);
  });

  // In a sample the next test ends with such a check.
  it.runIf(isDeep)('finds no fault if nothing was changed', async () => {
    expect(await findFaults()).toEqual([]);
  });
});

it('the statements of docs/operations.md, One day, repair a day with altered and lost Receipts, and it stays append-only', async () => {
  const partition = `receipts_${third.replaceAll('-', '')}`;
  await runSql(database.url, `create table kept as select * from ${partition}`);
  await tamper(
    database.url,
    `delete from ${partition} where receipt_id = (select max(receipt_id) from kept);
     update ${partition} set jws = jws || 'x' where receipt_id = (select min(receipt_id) from kept)`,
  );
  const broken = await findFaults();
  await withSession(database.url, (session) => session.query(statementsFor(third, 'kept')));
  expect(broken).toContainEqual(expect.stringContaining(third));
  await runSql(database.url, 'drop table kept');
  expect(await findFaults()).toEqual([]);
  await expect(runSql(database.url, `delete from ${partition}`)).rejects.toThrow('append-only');
});

/** Statements for psql, with the rows of the copy in the table `kept`. */
const statementsFor = (day: string, kept: string): string => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  const section = page.slice(page.indexOf('\n### One day\n'));
  const [, statements = ''] = /<<SQL\n([\s\S]*?)\n *SQL\n/.exec(section) ?? [];
  return statements
    .replace(/^ *\\copy (\S+) from .*$/m, `insert into $1 select * from ${kept};`)
    .replaceAll('$DAY', day.replaceAll('-', ''));
};
