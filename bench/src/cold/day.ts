/**
 * One day: its size as objects and in the database, the time to pack and to prove it, and the time to find a Receipt in
 * it through the API.
 */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { type ColdDay, parseColdDay } from '@svc/cold-ledger';
import { openObjects, placeMaker } from '@svc/object-store';
import { workOnThread } from '@svc/process/on-thread';
import { DAY_MS, dayOf } from '@svc/protocol';
import { createStore } from '@svc/store-pg';
import { isSwiftInstalled, startSwiftS3 } from '@svc/testkit/swift-s3';
import { peakMegabytes, resetPeak } from '../day/memory.ts';
import type { Cleanup } from '../harness/cleanup.ts';
import { type Place, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import type { Progress } from '../harness/run-benchmark.ts';
import { withSession } from '../ledger/database.ts';
import { startOfDay } from '../ledger/days.ts';
import { measureExport } from '../ledger/export.ts';
import { fill } from '../ledger/fill.ts';
import { get, startNodes, Turns } from '../ledger/nodes.ts';
import { countUsage, homeOf } from '../ledger/prepare.ts';
import { atLeast, atMost, type Row } from '../ledger/table.ts';
import { takeTemplates } from '../ledger/templates.ts';
import { insertTenants } from '../ledger/tenants.ts';
import { percentile } from '../load/percentile.ts';
import type { ColdOptions } from './options.ts';
import { HOT_DAYS, runWorker } from './worker-rounds.ts';

type Environment = Readonly<Record<string, string>>;

/** Age in days of the measured day, the first of the ledger. Of the days that are closed, only this one has Receipts. */
const DAYS_AGO = 40;

export async function measureDay(place: Place, options: ColdOptions, progress: Progress): Promise<Row[]> {
  const filled = await fillDay(place, options, progress);
  progress('packing');
  const rows = await measurePacking(filled, options);
  progress('the worker closes, packs and detaches it');
  await runWorker(place, {
    ...{ worker: options.worker, databaseUrl: filled.databaseUrl, firstDayMs: filled.firstDayMs, progress },
    ...{ environment: filled.environment, coldDays: DAYS_AGO - HOT_DAYS },
  });
  progress('proving');
  const manifest = await measureProving(filled, options, rows);
  rows.unshift(await measureBytes(filled, manifest));
  progress('looking up');
  rows.push(...(await measureLookUps('files', place, options, filled, filled.environment, 40)));
  progress('exporting');
  rows.push(...(await measureDayExport(place, options, filled)));
  if (isSwiftInstalled) {
    const environment = await copyToSwift(place.cleanup, filled, manifest);
    rows.push(...(await measureLookUps('Swift', place, options, filled, environment, 80)));
  } else progress('SKIPPED: look-ups in an S3 server. Swift is not installed');
  return rows;
}

const row = (what: string, figure: string, bar: Pick<Row, 'bar' | 'isMissed'>, note = '', p50 = ''): Row => ({
  ...{ what, p50, figure, note },
  ...bar,
});

interface FilledDay {
  readonly databaseUrl: string;
  readonly postgresPid: number;
  readonly environment: Environment & { readonly SVC_COLD: string };
  readonly firstDayMs: number;
  readonly day: string;
  readonly receipts: number;
  /** Bytes of the partition. */
  readonly bytes: number;
  /** Ids of Receipts of one relying party, and its keys. */
  readonly ids: readonly string[];
  readonly keys: readonly string[];
}

async function fillDay(
  place: Place,
  { api, receipts, samples }: ColdOptions,
  progress: Progress,
): Promise<FilledDay> {
  const home = join(place.folder, 'day');
  mkdirSync(home);
  const environment = { ...homeOf(home), SVC_COLD: pathToFileURL(join(home, 'objects')).href };
  // The thread that packs expects the place to exist; in the product the worker's job creates it.
  await placeMaker(environment.SVC_COLD, null)();
  const { url: databaseUrl, postgresPid } = await startDatabase(join(home, 'database'), place.cleanup);
  const node = await startApiNode(place, { name: 'cold', api, databaseUrl, environment });
  const templates = await takeTemplates(node, false);
  await node.stop();
  const firstDayMs = startOfDay(Date.now()) - DAYS_AGO * DAY_MS;
  const day = dayOf(firstDayMs);
  const { keys, largestRp } = await insertTenants(databaseUrl, firstDayMs, 1);
  await fill({ databaseUrl, firstDayMs, days: 1, receipts, templates, progress });
  await countUsage(databaseUrl, receipts, progress);
  return withSession(databaseUrl, async (session) => {
    const ask = async (sql: string, values: unknown[]) => (await session.query(sql, values)).rows;
    const [size] = await ask('select pg_total_relation_size($1)::float8 as bytes', [
      `receipts_${day.replaceAll('-', '')}`,
    ]);
    const ids = await ask(
      'select receipt_id as id from receipts where relying_party = $1 order by random() limit $2',
      [largestRp, samples],
    );
    return {
      ...{ databaseUrl, postgresPid, environment, firstDayMs, day, receipts },
      ...{ bytes: size?.bytes, ids: ids.map(({ id }) => id), keys: keys['largest RP'] },
    };
  });
}

const never = new AbortController().signal;

/** Runs the product's thread, with its limits, in this process. */
const threadOf = ({ databaseUrl, environment }: FilledDay, { worker }: ColdOptions) =>
  workOnThread(pathToFileURL(worker), { databaseUrl, place: environment.SVC_COLD, endpoint: null });

async function measurePacking(filled: FilledDay, options: ColdOptions): Promise<Row[]> {
  const before = peakMegabytes(process.pid);
  resetPeak(process.pid);
  const beganMs = performance.now();
  const cpu = process.cpuUsage();
  const { tables, difference } = await threadOf(filled, options).pack(filled.day, never);
  if (difference !== null) throw new Error(`what was read back differs in ${difference}`);
  const seconds = (performance.now() - beganMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const peak = peakMegabytes(process.pid);
  return [
    row(
      'packing, reading back and comparing, s',
      seconds.toFixed(1),
      atMost(seconds, 120),
      `on the thread of the worker; ${((user + system) / 1e6).toFixed(1)} s of CPU here`,
    ),
    row(
      'peak MB of the process',
      peak.toFixed(0),
      atMost(peak, 400),
      `${before.toFixed(0)} before it was reset; ${Object.values(tables).flat().length} objects`,
    ),
  ];
}

/** Proves a day as the job does once a month. */
async function measureProving(filled: FilledDay, options: ColdOptions, rows: Row[]): Promise<ColdDay> {
  const store = createStore({ databaseUrl: filled.databaseUrl });
  try {
    const [recorded, published] = await Promise.all([
      store.coldDays.findManifest(filled.day),
      store.checkpoints.find(filled.day),
    ]);
    if (recorded === null || published === null) throw new Error(`${filled.day} is not packed`);
    const manifest = parseColdDay(recorded.manifest);
    const beganMs = performance.now();
    const problem = await threadOf(filled, options).findProblem(manifest, published, never);
    if (problem !== null) throw new Error(problem);
    const perSecond = filled.receipts / ((performance.now() - beganMs) / 1000);
    rows.push(
      row(
        'Receipts a second, read from the store and proven',
        perSecond.toFixed(0),
        atLeast(perSecond, 20_000),
      ),
    );
    return manifest;
  } finally {
    await store.close();
  }
}

/**
 * Size of the whole database without the tables of days, since this day is the only one: its signed manifest, its
 * counts and the registered subjects; and size of its objects. The sums of its month are reported separately, since
 * they belong to all days of the month.
 */
async function measureBytes({ databaseUrl, receipts, bytes }: FilledDay, { tables }: ColdDay): Promise<Row> {
  const objects = Object.values(tables)
    .flat()
    .reduce((sum, object) => sum + object.bytes, 0);
  const kept = await withSession(databaseUrl, async (session) => {
    const text = `select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
      where relnamespace = 'public'::regnamespace and relkind = 'r' and relname !~ '^(detached_)?receipts_[0-9]{8}$' order by bytes desc`;
    return (await session.query<{ name: string; bytes: number }>(text)).rows;
  });
  const each = (count: number) => (count / receipts).toFixed(0);
  const isOfMonth = ({ name }: { name: string }) => name.startsWith('usage_monthly');
  const ofDay = kept.filter((one) => !isOfMonth(one));
  const bytesOf = (tables: typeof kept) => tables.reduce((sum, one) => sum + one.bytes, 0);
  const all = objects + bytesOf(ofDay);
  const parts = ofDay
    .filter((one) => one.bytes >= receipts)
    .map((one) => `${one.name} ${each(one.bytes)}`)
    .join(', ');
  return row(
    'bytes a Receipt, database and objects',
    each(all),
    atMost(all / receipts, 450),
    `objects ${each(objects)}, ${parts}; sums of the month beside them: ${each(bytesOf(kept.filter(isOfMonth)))}; as a partition before: ${each(bytes)}`,
  );
}

/** Measures `GET /decisions/{id}` on nodes that do not have the Receipt in memory, and then again. */
async function measureLookUps(
  what: string,
  place: Place,
  { api }: ColdOptions,
  { databaseUrl, ids, keys }: FilledDay,
  environment: Environment,
  bar: number,
): Promise<Row[]> {
  const nodes = await startNodes(place, api, databaseUrl, { environment });
  const turns = new Turns(nodes);
  const pass = async () => {
    const ms: number[] = [];
    for (const id of ids) {
      const { node, key } = await turns.take(keys);
      ms.push((await get(node, `/decisions/${id}`, { key })).ms);
    }
    return ms;
  };
  const first = await pass();
  const again = await pass();
  for (const node of nodes) await node.stop();
  const line = (name: string, ms: readonly number[]) =>
    row(
      `GET /decisions/{id}, cold, ${what}${name}, p99 ms`,
      percentile(ms, 99).toFixed(1),
      atMost(percentile(ms, 99), bar),
      `${ms.length} of one relying party, ${nodes.length} nodes`,
      percentile(ms, 50).toFixed(1),
    );
  return [line(', first time', first), line('', again)];
}

/**
 * Measures the export of the whole day, and the export for the largest relying party, which has about a sixth of it.
 */
async function measureDayExport(
  place: Place,
  { api }: ColdOptions,
  { databaseUrl: url, postgresPid, environment, firstDayMs, keys }: FilledDay,
): Promise<Row[]> {
  const nodes = await startNodes(place, api, url, { environment });
  const asked = { database: { url, postgresPid }, untilMs: firstDayMs + DAY_MS };
  const operator = { who: 'operator', keys: [nodes[0].adminToken] };
  const rows = await measureExport({ ...asked, ...operator, nodes });
  rows.push(...(await measureExport({ ...asked, who: 'largest RP', keys, nodes })));
  for (const node of nodes) await node.stop();
  return rows;
}

/** Copies the objects to Swift on this machine. Returns the environment of a node that reads them there. */
async function copyToSwift(
  cleanup: Cleanup,
  { environment }: FilledDay,
  { tables }: ColdDay,
): Promise<Environment> {
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
  const credentials = {
    AWS_ACCESS_KEY_ID: swift.accessKeyId,
    AWS_SECRET_ACCESS_KEY: swift.secretAccessKey,
  };
  Object.assign(process.env, credentials);
  const from = await openObjects(environment.SVC_COLD, null);
  const to = await openObjects('s3://cold/bench', swift.endpoint);
  cleanup.add(() => to.close());
  for (const { name } of Object.values(tables).flat())
    await to.objects.put(name, await from.objects.get(name));
  return {
    ...environment,
    ...credentials,
    SVC_COLD: 's3://cold/bench',
    SVC_COLD_ENDPOINT: swift.endpoint,
  };
}
