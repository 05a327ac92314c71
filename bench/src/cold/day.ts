/** One day: what it takes as objects, what it takes to pack and to prove it, and what to find a Receipt in it. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type ColdDay, ColdDayReader, packDay, proveReceipts } from '@svc/cold-ledger';
import { type OpenedObjects, openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { readDayRows } from '@svc/store-pg';
import { isSwiftInstalled, startSwiftS3 } from '@svc/testkit/swift-s3';
import { peakMegabytes, resetPeak } from '../day/memory.ts';
import type { Cleanup } from '../harness/cleanup.ts';
import { type Place, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { withSession } from '../ledger/database.ts';
import { DAY_MS, dateOf, startOfDay } from '../ledger/days.ts';
import { fill } from '../ledger/fill.ts';
import { atLeast, atMost, type Row } from '../ledger/table.ts';
import { takeTemplates } from '../ledger/templates.ts';
import { insertTenants } from '../ledger/tenants.ts';
import { percentile } from '../load/percentile.ts';
import type { ColdOptions } from './options.ts';

type Progress = (line: string) => void;

export async function measureDay(place: Place, options: ColdOptions, progress: Progress): Promise<Row[]> {
  const filled = await fillDay(place, options, progress);
  const { objects } = await openObjects(pathToFileURL(join(place.folder, 'objects')).href, null);
  progress('packing');
  const { tables, rows } = await measurePacking(filled, objects);
  progress('looking up');
  rows.push(...(await measureLookUps('files', objects, tables, filled.ids, 40)));
  if (isSwiftInstalled) {
    const swift = await copyToSwift(place.cleanup, objects, tables);
    rows.push(...(await measureLookUps('Swift', swift, tables, filled.ids, 80)));
  } else progress('SKIPPED: look-ups in an S3 server. Swift is not installed');
  return rows;
}

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

async function fillDay(
  place: Place,
  { api, receipts, samples }: ColdOptions,
  progress: Progress,
): Promise<FilledDay> {
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
