/**
 * Executes the queries of docs/auditing.md, unchanged, with DuckDB over packed days, and compares the answers with
 * PostgreSQL's from before packing.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { manifestFolder, packDays, packTables, parseColdDay } from '@svc/cold-ledger';
import { objectName, openObjects } from '@svc/object-store';
import type { ObjectStore } from '@svc/service';
import { tamper } from '@svc/testkit';
import { createColdWorld, DUE, packingOf, type Receipt, RPS } from '@svc/testkit/store/cold-world';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, beforeAll, expect, it } from 'vitest';

const stores = withStores();
const root = mkdtempSync(join(tmpdir(), 'svc-auditing-'));
const published = mkdtempSync(join(tmpdir(), 'svc-checkpoints-'));
afterAll(() => {
  for (const folder of [root, published]) rmSync(folder, { recursive: true, force: true });
});

type Row = Readonly<Record<string, unknown>>;

const page = readFileSync(new URL('../../../../docs/auditing.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```sql( setup)?\n([\s\S]*?)^```$/gm)].map(([, , sql = '']) =>
  sql.replaceAll("'ledger/", `'${root}/`).replaceAll("'checkpoints/", `'${published}/`),
);
/** Rows from PostgreSQL while the days are hot. */
const hot: Record<string, Row[]> = {};
const answers: Row[][] = [];
let world: readonly Receipt[];

beforeAll(async () => {
  world = (await createColdWorld(stores.url, stores.first)).filter(
    ({ at }) => at < Date.parse(`${DUE.at(-1)}T24:00:00Z`),
  );
  const due = `evaluated_at < '${DUE.at(-1)}'::date + 1`;
  const ask = async (name: string, sql: string) => {
    hot[name] = await runSql<Row>(stores.url, sql);
  };
  await tamper(
    stores.url,
    `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision, type, occurred_at,
       correction_of, loss_amount, currency, issuer_unverified)
     select 'oat_c' || receipt_id, receipt_id, 3, relying_party, principal, evaluated_at, decision, 'loss_reported', '2026-01-01T00:00:00Z',
       attestation_id, 7, 'EUR', issuer_unverified from attestations where ordinal = 2 and hashtext(receipt_id) % 8 = 0`,
  );
  await ask(
    'usage',
    `select day::text, relying_party, key_id, reason, sum(verifies)::integer as verifies from usage_counts
     where day <= '${DUE.at(-1)}' group by 1, 2, 3, 4`,
  );
  await ask(
    'lost',
    `select relying_party, currency, count(*)::integer as reports, sum(loss_amount)::integer as lost from attestations a
     where type = 'loss_reported' and ${due}
       and not exists (select from attestations c where c.correction_of = a.attestation_id) group by 1, 2`,
  );
  await ask(
    'drawn',
    `select grant_id, key, cause, count(*)::integer as movements, sum(delta_total)::integer as amount, sum(delta_uses)::integer as uses
     from consumption_events where recorded_at < '${DUE.at(-1)}'::date + 1 group by 1, 2, 3`,
  );
  const { objects } = await openObjects(pathToFileURL(root).href, null);
  const packing = packingOf(stores.url, stores.first, objects);
  // Objects of a packer that was cut off: the same rows in other objects, which no manifest names.
  const [first = ''] = DUE;
  const sizes = { rowsPerGroup: 4, rowsPerObject: 8 };
  await packing.readDayRows(first, (rows) => packTables(objects, first, rows, { sizes }));
  await packDays(packing, new AbortController().signal);
  await leaveOthers(objects);
  await savePublished();
  const database = await DuckDBInstance.create(':memory:', { threads: '1' });
  const session = await database.connect();
  try {
    for (const sql of blocks) {
      const read = await session.runAndReadAll(sql.trim());
      answers.push(read.getRowObjectsJson() as Row[]);
    }
  } finally {
    session.closeSync();
    database.closeSync();
  }
}, 60_000);

/** Leaves manifests that must not be used, although each is the latest: with any of them the tables would be empty. */
const leaveOthers = async (objects: ObjectStore): Promise<void> => {
  const [first = '', , last = ''] = DUE;
  const recorded = new Map(
    (
      await runSql<{ day: string; manifest: string }>(
        stores.url,
        'select day::text, manifest from cold_days where manifest is not null',
      )
    ).map(({ day, manifest }) => [day, parseColdDay(manifest)]),
  );
  const textOf = (day: string, laterS: number, change: object = {}): Buffer => {
    const manifest = { ...recorded.get(day), ...change, iat: (recorded.get(day)?.iat ?? 0) + laterS };
    return Buffer.from(`e30.${Buffer.from(JSON.stringify(manifest)).toString('base64url')}.AA`);
  };
  const put = async (folder: string, bytes: Buffer) => {
    await objects.put(objectName(manifestFolder(folder), bytes, 'jws'), bytes);
    return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  };
  const none = { tree_size: 0, tables: { receipts: [], attestations: [], consumption_events: [] } };
  await put(first, textOf(last, 1_000, none));
  const replaced = await put(first, textOf(first, 1_000, none));
  await put(first, textOf(first, 1, { replaces: replaced }));
  writeFileSync(join(root, manifestFolder(first), 'copy.jws'), textOf(first, 2_000, none));
  // Manifests of a checkpoint that a repair of the clock has retracted: one beside the valid manifest, and one that
  // replaced it.
  const retracted = { ...none, checkpoint_hash: `sha256:${'0'.repeat(64)}` };
  await put(first, textOf(first, 3_000, retracted));
  const [{ manifest_hash: replaces } = { manifest_hash: '' }] = await runSql<{ manifest_hash: string }>(
    stores.url,
    'select manifest_hash from cold_days where day = $1',
    [last],
  );
  await put(last, textOf(last, -3_000, { ...retracted, replaces }));
};

/** Saves the answers of `GET /checkpoints/{day}`, one file each. */
const savePublished = async (): Promise<void> => {
  for (const day of DUE) {
    const found = await stores.first.checkpoints.find(day);
    const answer = { day, tree_size: found?.treeSize, checkpoint: found?.jws, checkpoint_hash: found?.hash };
    writeFileSync(join(published, `${day}.json`), JSON.stringify(answer));
  }
};

/** Rows in any order, with numbers as numbers. */
const plain = (rows: readonly Row[] | undefined) =>
  (rows ?? [])
    .map((row) =>
      JSON.stringify(
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value,
          ]),
        ),
      ),
    )
    .sort();
const question = (number: number): readonly Row[] => answers[number] ?? [];
const dayOf = ({ at }: Receipt) => new Date(at).toISOString().slice(0, 10);

it('docs/auditing.md has ten queries and the setup', () => {
  expect(blocks).toHaveLength(11);
  expect(page.match(/^## \d+\. /gm)).toHaveLength(10);
});

it('query 1: every day has all published Receipts; manifests of other days or retracted checkpoints are ignored', () => {
  const counts = DUE.map((day) => [day, world.filter((one) => dayOf(one) === day).length]);
  expect(
    question(1).map(({ day, tree_size: size, receipts }) => [day, Number(size), Number(receipts)]),
  ).toEqual(counts.map(([day, count]) => [day, count, count]));
});

it('query 2: decisions by day, relying party, key and reason equal those of usage', async () => {
  expect(hot.usage?.length).toBeGreaterThan(20);
  expect(plain(question(2))).toEqual(plain(hot.usage));
  for (const did of RPS) {
    const counted = await stores.first.usage.countByDay({
      ...{
        relyingParties: [did],
        sinceMs: Date.parse(DUE[0] ?? ''),
        untilMs: Date.parse(`${DUE.at(-1)}T24:00:00Z`),
      },
    });
    const sums = new Map<string, number>();
    for (const row of question(2).filter((one) => one.relying_party === did)) {
      const name = `${row.day} ${row.reason}`;
      sums.set(name, (sums.get(name) ?? 0) + Number(row.verifies));
    }
    expect([...sums].sort()).toEqual(
      counted.map(({ day, reason, verifies }) => [`${day} ${reason}`, verifies]).sort(),
    );
  }
});

it('queries 3, 5, 6, 7: reasons, Grants, amounts and the largest amounts equal those of the Receipts', () => {
  const denied = new Map<string, number>();
  for (const { reason } of world) if (reason !== null) denied.set(reason, (denied.get(reason) ?? 0) + 1);
  expect(
    question(3)
      .map(({ reason, denied: count }) => [reason, Number(count)])
      .sort(),
  ).toEqual([...denied].sort());
  const allowed = world.filter(({ reason }) => reason === null);
  expect(question(5).reduce((sum, row) => sum + Number(row.allowed), 0)).toBe(allowed.length);
  const amounts = allowed.flatMap(({ amount, principal }) =>
    amount === null ? [] : [{ amount, principal }],
  );
  for (const row of question(6)) {
    const own = amounts.filter(({ principal }) => principal === row.principal);
    expect([Number(row.purchases), Number(row.amount)]).toEqual([
      own.length,
      own.reduce((sum, { amount }) => sum + amount, 0),
    ]);
  }
  expect(question(7).map(({ amount }) => Number(amount))).toEqual(
    amounts
      .map(({ amount }) => amount)
      .sort((a, b) => b - a)
      .slice(0, 10),
  );
});

it('query 4: every Receipt is the signed text, to the byte', () => {
  const signed = world
    .map(({ id, jws }) => ({ receipt_id: id, jws }))
    .sort((a, b) => (a.receipt_id < b.receipt_id ? -1 : 1));
  expect(question(4)).toEqual(signed);
});

it('queries 8, 9: losses and consumption equal those of the database', () => {
  expect(hot.lost?.length).toBeGreaterThan(1);
  expect(plain(question(8))).toEqual(plain(hot.lost));
  expect(hot.drawn?.length).toBeGreaterThan(1);
  expect(plain(question(9))).toEqual(plain(hot.drawn));
});

it('query 10: no Receipt is listed with other columns than it has', () => {
  expect(question(10)).toEqual([]);
});
