/** A worker moves old days out of the database, and the remaining data is proven as before. */
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { ColdDayReader, packTables, parseColdDay } from '@svc/cold-ledger';
import { loadSecrets } from '@svc/config';
import { checkDatabase } from '@svc/fsck';
import { openObjects } from '@svc/object-store';
import { createLogger, openService, readConfig, workOnThread } from '@svc/process';
import { encodeBase64urlText, encodeUlid } from '@svc/protocol';
import { DatabaseClock, KeyRing, withinMs } from '@svc/service';
import { awayFromMidnight, daysAgo, tamper, withDatabase } from '@svc/testkit';
import { makeMemoryFolder } from '@svc/testkit/cluster-folder';
import { findFreePorts } from '@svc/testkit/process/free-ports';
import { programFile } from '@svc/testkit/process/program-file';
import { startProgram } from '@svc/testkit/process/start-program';
import { isDeep, sampled, sampleOf } from '@svc/testkit/sampled';
import { runSql, withSession } from '@svc/testkit/store/session';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startWorker } from './harness.ts';
import { makeWorkForEveryJob } from './kill/work-for-every-job.ts';

await awayFromMidnight();
const database = withDatabase();
const keysDir = mkdtempSync(join(tmpdir(), 'svc-worker-cold-'));
const coldDir = makeMemoryFolder();
afterAll(() => {
  for (const folder of [keysDir, coldDir, packedDir]) rmSync(folder, { recursive: true, force: true });
});

/** Opens the service as the worker does, without a place of cold days. */
const openUntold = async () => {
  const config = readConfig({
    DATABASE_URL: database.url,
    SVC_BASE_URL: 'http://svc.test',
    SVC_DATA_DIR: keysDir,
  });
  const secrets = await loadSecrets(config);
  const { close } = await openService({
    ...{ config, secrets, databaseUrl: database.url, logger: createLogger('warn') },
  });
  await close();
};

it('the worker packs and detaches days that are old enough, counts none twice, and leaves no fault for fsck', async () => {
  await makeWorkForEveryJob({ databaseUrl: database.url, keysDir });
  const counts = 'select day::text, verifies::integer from usage_by_day order by day, verifies';
  const env = { SVC_COLD: pathToFileURL(coldDir).href, SVC_HOT_DAYS: '1' };
  const run = async () => {
    const worker = startWorker({
      databaseUrl: database.url,
      keysDir,
      hosts: {},
      parameters: ['--once'],
      env,
    });
    expect(await worker.ended, worker.log.join('\n')).toBe(0);
    return worker.log;
  };
  const log = await run();
  expect(log.filter((line) => line.includes('"cold.packed"'))).toHaveLength(2);
  const counted = await runSql(database.url, counts);
  expect(counted.length).toBeGreaterThan(0);
  const cold = `select day::text, state from cold_days order by cold_days.day`;
  const left = [daysAgo(3), daysAgo(2)].map((day) => ({ day, state: 'cold' }));
  expect(await runSql(database.url, cold)).toEqual(left);
  expect(readdirSync(coldDir)).toEqual(expect.arrayContaining([daysAgo(3), daysAgo(2)]));

  // Not in a sample: pack-days.test.ts of store-pg checks that the next round finds nothing to do.
  if (isDeep) await run();
  expect(await runSql(database.url, cold)).toEqual(left);
  const problem = 'SVC_COLD is not set, and 2 days of this database can be read only from that store';
  if (isDeep) {
    const untold = startWorker({ databaseUrl: database.url, keysDir, hosts: {}, parameters: ['--once'] });
    expect(await untold.ended).not.toBe(0);
    expect(untold.log.join('\n')).toContain(problem);
  } else {
    const stops = [DatabaseClock.prototype, KeyRing.prototype].map((one) => vi.spyOn(one, 'stop'));
    await expect(openUntold()).rejects.toThrow(problem);
    for (const stop of stops) {
      expect(stop, 'what was opened is released').toHaveBeenCalledOnce();
      stop.mockRestore();
    }
  }
  expect(await runSql(database.url, counts)).toEqual(counted);
  const faults: string[] = [];
  const { notes } = await checkDatabase({
    databaseUrl: database.url,
    onFault: ({ check, where, problem }) => faults.push(`${check}: ${where}: ${problem}`),
  });
  expect(faults).toEqual([]);
  expect(notes.join()).toContain('2 days are cold');
}, 240_000);

const busy = daysAgo(3);
const place = pathToFileURL(coldDir).href;

/** Prints a line on each thread that a process starts, but not on its main thread. */
const SAYING = `data:text/javascript,${encodeURIComponent(`
  import { isMainThread } from 'node:worker_threads';
  if (!isMainThread) console.log('thread of ' + process.argv[1]);`)}`;

/** Each program in a folder without other files of this repository, as `npm run pack:apps` makes it. */
const packedDir = mkdtempSync(join(tmpdir(), 'svc-worker-packed-'));
const packed = (app: string) => join(packedDir, app, 'main.js');
const adminFile = () => (isDeep ? packed('admin') : programFile('apps/admin'));
beforeAll(() => {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  // The sample uses both as they are built.
  for (const app of isDeep ? ['api', 'admin'] : [])
    execFileSync(
      process.execPath,
      [
        ...['--import', 'tsx', join(root, 'scripts/pack-apps/main.ts'), '--only', app],
        ...['--from', dirname(programFile(`apps/${app}`)), '--out', packedDir],
      ],
      { cwd: root, timeout: 60_000 },
    );
}, 120_000);

/** Checks that an API answers with the leaves of the day, and reads them on a thread. */
const expectLeaves = async (file: string, baseUrl = 'http://svc.test'): Promise<void> => {
  const [port, adminPort] = await findFreePorts(2);
  const api = startProgram(file, {
    ...{ DATABASE_URL: database.url, SVC_BASE_URL: baseUrl, SVC_DATA_DIR: keysDir, SVC_COLD: place },
    ...{ SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort), NODE_OPTIONS: `--import=${SAYING}` },
  });
  try {
    await api.line('"listening"');
    const answer = await fetch(`http://127.0.0.1:${port}/checkpoints/${busy}/leaves`);
    const [{ manifest }] = (await runSql<{ manifest: string }>(
      database.url,
      'select manifest from cold_days where day = $1',
      [busy],
    )) as [{ manifest: string }];
    const leaves = (await answer.text()).trimEnd().split('\n');
    expect(leaves).toHaveLength(parseColdDay(manifest).tree_size);
    await api.line('thread of ');
    expect(api.log.join('\n')).toMatch(/^thread of .*read-thread\.js$/m);
  } finally {
    await api.stop();
  }
};

const APIS: [how: string, file: () => string][] = [
  ['as it is built', () => programFile('apps/api')],
  ['as it is packed', () => packed('api')],
];
it.each(sampleOf(APIS, 1))(
  'the API, %s, reads the leaves of a cold day on a separate thread',
  (_, file) => expectLeaves(file()),
  60_000,
);

const check = async () => {
  const faults: string[] = [];
  const { objects } = await openObjects(place, null);
  const { notes, checks } = await checkDatabase({
    databaseUrl: database.url,
    objects,
    onFault: ({ check: name, where, problem }) => faults.push(`${name}: ${where}: ${problem}`),
  });
  return { faults, notes, looked: checks.find(({ name }) => name === 'cold-days')?.looked };
};

describe('fsck --cold', () => {
  let receipts: string;
  let manifest: string;
  beforeAll(async () => {
    const [row] = await runSql<{ manifest: string }>(
      database.url,
      'select manifest from cold_days where day = $1',
      [busy],
    );
    manifest = row?.manifest ?? '';
    receipts = join(coldDir, parseColdDay(manifest).tables.receipts[0]?.name ?? '');
  });

  it('finds no fault in what the worker packed, and reads all of it', async () => {
    expect(await check()).toEqual({ faults: [], notes: [], looked: 2 });
  });

  /** Runs `work` on the file, and restores the file afterwards. */
  const restoring = async <T>(work: (file: string) => Promise<T>): Promise<T> => {
    copyFileSync(receipts, `${coldDir}/kept`);
    try {
      return await work(receipts);
    } finally {
      renameSync(`${coldDir}/kept`, receipts);
    }
  };
  const onlyFault = (problem: string) => [expect.stringContaining(`cold-days: ${busy}: ${problem}`)];

  it.each(sampleOf([0, 0.25, 0.5, 0.99], 1))('finds a flipped byte at %d of an object', (part) =>
    restoring(async (file) => {
      const bytes = readFileSync(file);
      const at = Math.floor(bytes.length * part);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(file, bytes);
      expect((await check()).faults).toEqual(onlyFault('what is stored under'));
    }),
  );

  it.runIf(isDeep)('finds bytes appended to an object, where readers of Parquet begin', () =>
    restoring(async (file) => {
      appendFileSync(file, readFileSync(file));
      expect((await check()).faults).toEqual(onlyFault(`${receipts.slice(coldDir.length + 1)} has `));
    }),
  );

  it.runIf(isDeep)(
    'finds that the recorded manifest is missing in the store, and finds a forged manifest there',
    async () => {
      const folder = join(coldDir, busy, 'manifests');
      const [name = ''] = readdirSync(folder);
      renameSync(join(folder, name), join(coldDir, 'kept'));
      expect((await check()).faults).toEqual(onlyFault('its manifest is not in the store'));
      renameSync(join(coldDir, 'kept'), join(folder, name));

      const [head = '', payload = ''] = manifest.split('.');
      const later = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), iat: 4_000_000_000 };
      const forged = `${head}.${encodeBase64urlText(JSON.stringify(later))}.${'A'.repeat(86)}`;
      const file = join(folder, `${createHash('sha256').update(forged).digest('hex')}.jws`);
      writeFileSync(file, forged);
      expect((await check()).faults).toEqual(onlyFault('the manifest '));
      rmSync(file);
    },
  );

  it.runIf(isDeep)('finds a missing object', () =>
    restoring(async (file) => {
      rmSync(file);
      expect((await check()).faults).toEqual(onlyFault('nothing is stored under'));
    }),
  );

  // For the hash check this is the same as an object with a wrong byte, so a sample leaves it out.
  it.runIf(isDeep)(
    'finds an object newer than its manifest: the same day packed with another action, under the old name',
    () =>
      restoring(async (file) => {
        const folder = mkdtempSync(join(tmpdir(), 'svc-newer-'));
        const { objects } = await openObjects(place, null);
        const newer = await openObjects(pathToFileURL(folder).href, null);
        const reader = new ColdDayReader(objects, parseColdDay(manifest));
        const rows = {
          async *receipts() {
            for await (const batch of reader.receipts())
              yield batch.map((row) => ({ ...row, resource: 'order/9' }));
          },
          attestations: () => reader.rows('attestations'),
          consumptionEvents: () => reader.rows('consumption_events'),
        };
        const tables = await packTables(newer.objects, busy, rows);
        copyFileSync(join(folder, tables.receipts[0]?.name ?? ''), file);
        rmSync(folder, { recursive: true });
        expect((await check()).faults).toEqual(onlyFault('what is stored under'));
      }),
  );

  it.runIf(isDeep)(
    'finds a manifest of another day and a forged one, and notes an object that no manifest names',
    async () => {
      const [row] = await runSql<{ manifest: string; hash: string }>(
        database.url,
        'select manifest, manifest_hash as hash from cold_days where day <> $1',
        [busy],
      );
      const other = parseColdDay(row?.manifest ?? '').day;
      const faultsWith = async (change: string, values: unknown[]) => {
        await tamper(database.url, 'create table kept_days as select * from cold_days');
        await tamper(database.url, 'delete from cold_days where day <> $1', [busy]);
        await tamper(database.url, change, values);
        const { faults } = await check();
        await tamper(
          database.url,
          'delete from cold_days; insert into cold_days select * from kept_days; drop table kept_days',
        );
        return faults.filter((fault) => fault.startsWith('cold-days'));
      };
      expect(
        await faultsWith('update cold_days set manifest = $1, manifest_hash = $2', [
          row?.manifest,
          row?.hash,
        ]),
      ).toEqual(onlyFault(`its manifest is of ${other}`));
      const [head = '', , signature = ''] = manifest.split('.');
      const forged = `${head}.${row?.manifest.split('.')[1]}.${signature}`;
      expect(
        await faultsWith(
          `update cold_days set manifest = $1, manifest_hash = 'sha256:' || encode(sha256(convert_to($1, 'UTF8')), 'hex')`,
          [forged],
        ),
      ).toEqual(onlyFault('its manifest: '));
      const { objects } = await openObjects(place, null);
      await objects.put(
        `${busy}/receipts/6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d.parquet`,
        new Uint8Array([0]),
      );
      expect(await check()).toMatchObject({
        faults: [],
        notes: [expect.stringContaining(`${busy}: 1 objects`)],
      });
    },
  );
});

describe('svc-admin ledger', () => {
  let baseUrl = 'http://svc.test';
  const admin = (...parameters: string[]) => adminOn(place, parameters);
  const adminOn = async (cold: string, parameters: string[]) => {
    const env = {
      ...{ DATABASE_URL: database.url, SVC_BASE_URL: baseUrl, SVC_DATA_DIR: keysDir },
      ...{ SVC_COLD: cold, SVC_HOT_DAYS: '1' },
    };
    const program = startProgram(adminFile(), env, parameters);
    const code = await program.ended;
    return { code, text: program.log.join('\n') };
  };
  const state = async (day: string) =>
    (await runSql<{ state: string }>(database.url, 'select state from cold_days where day = $1', [day]))[0]
      ?.state;

  it('verifies, unpacks and packs days, shows where they are, and drops those that are due', async () => {
    if (isDeep) {
      const status = await admin('ledger', 'status', '--all');
      expect(status.code, status.text).toBe(0);
      expect(status.text).toMatch(/^cold +2 +\d+\.\d MiB +0\.\d MiB$/m);
      expect(status.text).toMatch(new RegExp(`^${busy} cold +[\\d.]+ MiB +[\\d.]+ MiB  proven `, 'm'));
    }
    const kept = `detached_receipts_${busy.replaceAll('-', '')}`;
    const setResource = (value: string) => tamper(database.url, `update ${kept} set resource = ${value}`);
    await tamper(database.url, `alter table ${kept} add column was text`);
    await tamper(database.url, `update ${kept} set was = resource`);
    await setResource(`'another'`);
    // `unpack` makes the same comparison.
    if (isDeep)
      expect(await admin('ledger', 'verify', '--day', busy)).toEqual({
        code: 1,
        text: expect.stringContaining(`${busy}  its objects differ from what is kept in receipts from drc_`),
      });
    expect(await admin('ledger', 'unpack', busy)).toEqual({
      code: 2,
      text: expect.stringContaining(
        'the copy beside the ledger differs from its objects, in receipts from drc_',
      ),
    });
    expect(await state(busy)).toBe('cold');
    await setResource('was');
    await tamper(database.url, `alter table ${kept} drop column was`);
    await tamper(
      database.url,
      `update cold_days set problem = null, again_at = null, detached_at = now() - interval '8 days'`,
    );
    expect(await admin('ledger', 'drop')).toEqual({
      code: 0,
      text: '2 days were removed from the database.',
    });
    expect(await admin('ledger', 'unpack', busy)).toEqual({
      code: 0,
      text: expect.stringMatching(
        new RegExp(
          `^Until this ends, events .* wait, [^]*\n${busy} is in the ledger again, from its objects\\.$`,
        ),
      ),
    });
    expect(await state(busy)).toBe('unpacked');
    expect((await check()).faults).toEqual([]);
    // unpack-day.test.ts of store-pg checks that a day which was brought back is packed again on request.
    if (!isDeep) return;
    expect(await admin('ledger', 'pack', '--day', busy)).toEqual({ code: 0, text: `${busy} is packed.` });
    expect(await state(busy)).toBe('recorded');
    const round = await admin('ledger', 'pack');
    expect([round.code, round.text]).toEqual([
      0,
      '0 packed, 0 broken, 0 cleared, 1 detached, 0 dropped, 0 deleted, 0 proven',
    ]);
    expect(await state(busy)).toBe('cold');
  }, 120_000);

  it.runIf(isDeep)(
    'verify with another folder is refused, records no problem of any day, and creates no folder',
    async () => {
      const typo = join(keysDir, 'typo');
      expect(await adminOn(pathToFileURL(typo).href, ['ledger', 'verify'])).toMatchObject({
        code: 2,
        text: expect.stringContaining('is it mounted?'),
      });
      const other = mkdtempSync(join(tmpdir(), 'svc-other-'));
      await openObjects(pathToFileURL(other).href, null);
      const refused = await adminOn(pathToFileURL(other).href, ['ledger', 'verify']);
      rmSync(other, { recursive: true });
      expect(refused).toMatchObject({
        code: 2,
        text: expect.stringContaining('SVC_COLD must name the store'),
      });
      expect(existsSync(typo)).toBe(false);
      expect(await runSql(database.url, 'select from cold_days where problem is not null')).toEqual([]);
    },
    60_000,
  );

  it.runIf(isDeep)(
    'names what is missing in the store until it is back',
    async () => {
      renameSync(join(coldDir, busy), join(coldDir, 'away'));
      expect(await admin('ledger', 'verify')).toMatchObject({
        code: 1,
        text: expect.stringContaining(`${busy}  nothing is stored under`),
      });
      const told = await admin('ledger', 'status');
      expect([told.code, told.text]).toEqual([
        1,
        expect.stringContaining(`${busy}: nothing is stored under`),
      ]);
      renameSync(join(coldDir, 'away'), join(coldDir, busy));
      const again = { code: 0, text: `${busy}  ok` };
      expect(await admin('ledger', 'verify', '--day', busy)).toEqual(again);
    },
    120_000,
  );

  // clear-days.test.ts of store-pg, "days packed under a former DID", checks the same within one process.
  it.runIf(isDeep)(
    'verifies and unpacks days packed under a former DID of the service, and the API reads them',
    async () => {
      expect(await admin('service-did', 'change', 'did:web:new.test', '--apply')).toMatchObject({ code: 0 });
      baseUrl = 'http://new.test';
      await expectLeaves(packed('api'), baseUrl);
      const proven = [daysAgo(3), daysAgo(2)].map((day) => `${day}  ok`).join('\n');
      expect(await admin('ledger', 'verify')).toEqual({ code: 0, text: proven });
      expect(await admin('ledger', 'unpack', daysAgo(2))).toEqual({
        code: 0,
        text: expect.stringContaining(`${daysAgo(2)} is in the ledger again, from its objects.`),
      });
    },
    120_000,
  );
});

it('a packing thread refuses a folder that does not exist, and does not create it', async () => {
  const gone = join(keysDir, 'gone');
  const program = pathToFileURL(programFile('apps/worker'));
  const places = { databaseUrl: database.url, place: pathToFileURL(gone).href, endpoint: null };
  await expect(
    workOnThread(program, places).pack(daysAgo(1), new AbortController().signal),
  ).rejects.toMatchObject({ kind: 'unavailable', message: expect.stringContaining('is it mounted?') });
  expect(existsSync(gone)).toBe(false);
});

it.runIf(isDeep)(
  'a mount that hangs for two threads takes the two places of the process, and host names are still looked up',
  async () => {
    const [row] = await runSql<{ manifest: string }>(
      database.url,
      'select manifest from cold_days where day = $1',
      [busy],
    );
    const manifest = parseColdDay(row?.manifest ?? '');
    const published = { day: busy, hash: manifest.checkpoint_hash, root: manifest.root, contentRoot: '' };
    const hanging = mkdtempSync(join(tmpdir(), 'svc-hanging-'));
    const { objects } = await openObjects(pathToFileURL(hanging).href, null);
    const pipe = manifest.tables.receipts[0]?.name ?? '';
    mkdirSync(dirname(join(hanging, pipe)), { recursive: true });
    execFileSync('mkfifo', [join(hanging, pipe)]);
    const places = { databaseUrl: database.url, place: pathToFileURL(hanging).href, endpoint: null };
    const program = pathToFileURL(programFile('apps/worker'));
    const work = workOnThread(program, places);
    const stop = new AbortController().signal;
    try {
      const proven = [0, 1].map(() => work.findProblem(manifest, published as never, stop));
      for (const { status } of await Promise.allSettled(proven)) expect(status).toBe('rejected');
      await expect(objects.head(pipe)).rejects.toThrow('2 calls have not ended');
      const late = () => Promise.reject(new Error('no name is looked up any more'));
      expect(await withinMs(5_000, lookup('localhost'), late)).toMatchObject({ address: expect.any(String) });
    } finally {
      closeSync(openSync(join(hanging, pipe), constants.O_RDWR | constants.O_NONBLOCK));
    }
    // Its threads end and free their places.
    await vi.waitFor(() => objects.list('nothing', null, 1), { timeout: 10_000 });
    rmSync(hanging, { recursive: true });
  },
  60_000,
);

it.runIf(isDeep)(
  "a day of Receipts and outcome records of the largest size is packed and proven within the thread's memory",
  async () => {
    const startMs = Date.parse(daysAgo(9));
    const count = sampled({ quick: 1_280, deep: 4_096 });
    await withSession(database.url, async (session) => {
      await session.query('select svc_ensure_receipt_partitions($1::date, $1::date)', [daysAgo(9)]);
      for (let from = 0; from < count; from += 256) {
        const numbers = Array.from({ length: 256 }, (_, i) => from + i);
        const ids = numbers.map((n) => `drc_${encodeUlid(startMs + n * 1_000, randomBytes(10))}`);
        // A Receipt filled by a Grant of 16,384 characters that cannot be compressed.
        const payloads = numbers.map(() =>
          JSON.stringify({ authority: randomBytes(9_200).toString('base64') }),
        );
        const texts = payloads.map((text) => `e30.${encodeBase64urlText(text)}.AA`);
        await session.query(
          `insert into receipts (receipt_id, relying_party, decision, evaluated_at, resource, jws, content_hash, production_check)
         select id, 'did:web:a.example', 'ALLOW', $3, repeat('r', 2048), jws, sha256(convert_to(jws, 'UTF8')), true
         from unnest($1::text[], $2::text[]) as row (id, jws)`,
          [ids, texts, daysAgo(9)],
        );
        await session.query(
          `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, evaluated_at, decision, type, occurred_at, evidence_ref, note)
         select 'oat_' || id, id, 1, 'did:web:a.example', $3, 'ALLOW', 'fulfilled', '2026-01-01T00:00:00Z', left(jws, 2048), right(jws, 2000)
         from unnest($1::text[], $2::text[]) as row (id, jws)`,
          [ids, texts, daysAgo(9)],
        );
      }
    });
    const program = pathToFileURL(programFile('apps/worker'));
    const work = workOnThread(program, { databaseUrl: database.url, place, endpoint: null });
    const packed = await work.pack(daysAgo(9), new AbortController().signal);
    expect(packed).toMatchObject({ treeSize: count, difference: null });
    expect(packed.tables.receipts.flatMap(({ groups }) => groups).length).toBeGreaterThan(
      sampled({ quick: 2, deep: 3 }),
    );
  },
  120_000,
);
