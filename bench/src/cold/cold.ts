/**
 * `npm run bench -- cold`: what a day takes as objects, what it takes to pack and to prove it, and what to find a Receipt in it.
 * Ends with 1 when a bar is missed.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type ColdDay, ColdDayReader, packDay, proveReceipts } from '@svc/cold-ledger';
import { type OpenedObjects, openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { readDayRows } from '@svc/store-pg';
import { isSwiftInstalled, startSwiftS3 } from '@svc/testkit/swift-s3';
import { peakMegabytes, resetPeak } from '../day/memory.ts';
import { Cleanup } from '../harness/cleanup.ts';
import { argumentsOf } from '../harness/command-line.ts';
import { type Place, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { describeMachine } from '../harness/report.ts';
import { withSession } from '../ledger/database.ts';
import { DAY_MS, dateOf, startOfDay } from '../ledger/days.ts';
import { fill } from '../ledger/fill.ts';
import { atLeast, atMost, printRows, type Row } from '../ledger/table.ts';
import { takeTemplates } from '../ledger/templates.ts';
import { insertTenants } from '../ledger/tenants.ts';
import { percentile } from '../load/percentile.ts';
import { parseColdOptions } from './options.ts';

const began = performance.now();
const progress = (line: string): void =>
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);

const row = (what: string, figure: string, bar: Pick<Row, 'bar' | 'isMissed'>, note = '', p50 = ''): Row => ({
  ...{ what, p50, figure, note },
  ...bar,
});
const NO_BAR = { bar: '', isMissed: false };

interface FilledDay {
  readonly databaseUrl: string;
  readonly day: string;
  readonly bytes: number;
  readonly ids: readonly string[];
}

async function fillDay(place: Place, api: string, receipts: number, samples: number): Promise<FilledDay> {
  const { url: databaseUrl } = await startDatabase(join(place.folder, 'database'), place.cleanup);
  const node = await startApiNode(place, { name: 'cold', api, databaseUrl });
  const templates = await takeTemplates(node, false);
  await node.stop();
  const firstDayMs = startOfDay(Date.now()) - 40 * DAY_MS;
  const day = dateOf(firstDayMs);
  await insertTenants(databaseUrl, firstDayMs, 1);
  await fill({ databaseUrl, firstDayMs, days: 1, receipts, templates, progress });
  return withSession(databaseUrl, async (session) => {
    const ask = async (sql: string, values: unknown[]) => (await session.query(sql, values)).rows;
    const [size] = await ask('select pg_total_relation_size($1)::float8 as bytes', [
      `receipts_${day.replaceAll('-', '')}`,
    ]);
    const ids = await ask('select receipt_id as id from receipts order by random() limit $1', [samples]);
    return {
      ...{ databaseUrl, day, bytes: size?.bytes, ids: ids.map(({ id }) => id) },
    };
  });
}

async function measurePacking(filled: FilledDay, objects: ObjectStore) {
  resetPeak(process.pid);
  const beganMs = performance.now();
  const cpu = process.cpuUsage();
  const { tables, treeSize, difference } = await readDayRows(filled.databaseUrl, filled.day, (rows) =>
    packDay(objects, filled.day, rows),
  );
  if (difference !== null) throw new Error(`what was read back differs in ${difference}`);
  const packedMs = performance.now();
  const { user, system } = process.cpuUsage(cpu);
  const stored = Object.values(tables)
    .flat()
    .reduce((sum, { bytes }) => sum + bytes, 0);
  const seconds = (packedMs - beganMs) / 1000;
  const peak = peakMegabytes(process.pid);
  await proveReceipts(objects, tables);
  const proving = (performance.now() - packedMs) / 1000;
  const manifest = JSON.stringify(tables).length * (4 / 3);
  const each = (stored + manifest) / treeSize;
  const rows = [
    row(
      'bytes a Receipt, objects and manifest',
      each.toFixed(0),
      atMost(each, 450),
      `in PostgreSQL: ${(filled.bytes / treeSize).toFixed(0)}`,
    ),
    row(
      'packing and proving, s',
      seconds.toFixed(1),
      atMost(seconds, 120),
      `proving alone ${proving.toFixed(1)}; ${((user + system) / 1e6).toFixed(1)} s of CPU here`,
    ),
    row(
      'peak MB of the process',
      peak.toFixed(0),
      atMost(peak, 400),
      `${Object.values(tables).flat().length} objects`,
    ),
    row(
      'Receipts a second, read from the store and hashed',
      (treeSize / proving).toFixed(0),
      atLeast(treeSize / proving, 20_000),
    ),
  ];
  return { tables, rows };
}

async function measureLookUps(
  what: string,
  objects: ObjectStore,
  tables: ColdDay['tables'],
  ids: readonly string[],
  bar: number,
) {
  const takes = async (find: (id: string) => Promise<unknown>) => {
    const ms: number[] = [];
    for (const id of ids) {
      const beganMs = performance.now();
      if ((await find(id)) === null) throw new Error(`${id} is not found`);
      ms.push(performance.now() - beganMs);
    }
    return ms;
  };
  const reader = new ColdDayReader(objects, { tables });
  await takes((id) => reader.findReceipt(id));
  const known = await takes((id) => reader.findReceipt(id));
  const anew = await takes((id) => new ColdDayReader(objects, { tables }).findReceipt(id));
  const line = (name: string, ms: readonly number[], limit: Pick<Row, 'bar' | 'isMissed'>) =>
    row(
      `a Receipt, ${what}${name}, p99 ms`,
      percentile(ms, 99).toFixed(1),
      limit,
      `${ms.length} look-ups`,
      percentile(ms, 50).toFixed(1),
    );
  return [line('', known, atMost(percentile(known, 99), bar)), line(', index not in memory', anew, NO_BAR)];
}

/** The objects once more, in Swift on this machine. */
async function copyToSwift(
  cleanup: Cleanup,
  from: ObjectStore,
  tables: ColdDay['tables'],
): Promise<ObjectStore> {
  const swift = await startSwiftS3();
  cleanup.add(() => swift.stop());
  const client = new S3Client({
    endpoint: swift.endpoint,
    region: 'us-east-1',
    credentials: swift,
    forcePathStyle: true,
  });
  await client.send(new CreateBucketCommand({ Bucket: 'cold' }));
  client.destroy();
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: swift.accessKeyId,
    AWS_SECRET_ACCESS_KEY: swift.secretAccessKey,
  });
  const { objects, close }: OpenedObjects = await openObjects('s3://cold/bench', swift.endpoint);
  cleanup.add(close);
  for (const { name } of Object.values(tables).flat()) await objects.put(name, await from.get(name));
  return objects;
}

const options = parseColdOptions(argumentsOf('cold'));
if (process.platform !== 'linux') {
  console.error('The benchmark reads memory from /proc, so it runs on Linux only.');
  process.exit(2);
}

/** Whoever packs is started so: left to itself, a heap of this little use grows to half a gigabyte before it is swept. */
const BOUND = '--max-old-space-size=128';
if (!process.execArgv.includes(BOUND)) {
  const { status } = spawnSync(process.execPath, [BOUND, ...process.argv.slice(1)], { stdio: 'inherit' });
  process.exit(status ?? 1);
}

const cleanup = new Cleanup();
try {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-bench-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  progress(`${describeMachine()}, load ${loadavg()[0]?.toFixed(1)}`);
  const filled = await fillDay({ folder, cleanup }, options.api, options.receipts, options.samples);
  const { objects } = await openObjects(pathToFileURL(join(folder, 'objects')).href, null);
  progress('packing');
  const { tables, rows } = await measurePacking(filled, objects);
  progress('looking up');
  rows.push(...(await measureLookUps('files', objects, tables, filled.ids, 40)));
  if (isSwiftInstalled) {
    const swift = await copyToSwift(cleanup, objects, tables);
    rows.push(...(await measureLookUps('Swift', swift, tables, filled.ids, 80)));
  } else progress('SKIPPED: look-ups in an S3 server. Swift is not installed');
  console.log(printRows(rows));
  progress(`load ${loadavg()[0]?.toFixed(1)} at the end`);
  if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
} catch (problem) {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exitCode = 1;
} finally {
  await cleanup.run();
}
