/** Other engines can read the objects. DuckDB is one that shares no code with the writer. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import { packTables, TABLES, type TableName } from '../src/index.ts';
import { DAY, type MadeUpDay, madeUpDay, openFolder, SIZES, sourceOf } from './days.ts';

const { objects, root, close } = await openFolder();
const database = await DuckDBInstance.create(':memory:', { threads: '1' });
const session = await database.connect();
afterAll(() => {
  session.closeSync();
  database.closeSync();
  close();
});

const [sample] = fc.sample(madeUpDay(14), { numRuns: 1, seed: 11 }) as [MadeUpDay];
const signed = sample.receipts.map((row, i) => ({
  ...row,
  amount: BigInt(i),
  jws: `${Buffer.from('{"alg":"EdDSA"}').toString('base64url')}.${Buffer.from(`{"n":${i}}`).toString('base64url')}.${Buffer.alloc(64, i).toString('base64url')}`,
}));
await packTables(objects, DAY, sourceOf({ ...sample, receipts: signed }), { sizes: SIZES });

const filesOf = (table: TableName) =>
  `read_parquet('${join(root, DAY, table.replace('_', '-'), '*.parquet')}')`;
const ask = async (sql: string) => (await session.runAndReadAll(sql)).getRowObjectsJson();

/** The client of DuckDB drops a byte order mark. */
const hex = (text: string | null) => text && Buffer.from(text).toString('hex').toUpperCase();

const TYPES: Readonly<Record<string, string>> = {
  ...{ text: 'VARCHAR', bytes: 'BLOB', integer: 'BIGINT', small: 'INTEGER' },
  ...{ instant: 'TIMESTAMP WITH TIME ZONE', flag: 'BOOLEAN' },
};

it.each(['receipts', 'attestations', 'consumption_events'] as const)(
  'DuckDB finds the documented columns in %s',
  async (table) => {
    const columns = await ask(`describe select * from ${filesOf(table)}`);
    expect(columns.map((one) => [one.column_name, one.column_type])).toEqual(
      Object.entries(TABLES[table]).map(([name, kind]) => [name, TYPES[kind.replace('?', '')]]),
    );
  },
);

it('DuckDB reads the values that were written, and rebuilds each JWS byte for byte', async () => {
  const part = (column: string) => `rtrim(replace(replace(to_base64(${column}), '+', '-'), '/', '_'), '=')`;
  const rows =
    await ask(`select receipt_id, hex(encode(relying_party)) as relying_party, hex(encode(resource)) as resource, amount, epoch_us(evaluated_at) as evaluated_us, production_check,
    coalesce(jws, concat_ws('.', ${part('encode(header)')}, ${part('encode(payload)')}, ${part('signature')})) as jws,
    payload->>'$.n' as n from ${filesOf('receipts')} order by receipt_id`);
  expect(rows).toEqual(
    signed.map((row, i) => ({
      ...{
        receipt_id: row.receipt_id,
        relying_party: hex(row.relying_party),
        resource: hex(row.resource),
        amount: `${row.amount}`,
      },
      ...{
        evaluated_us: `${row.evaluated_at}`,
        production_check: row.production_check,
        jws: row.jws,
        n: `${i}`,
      },
    })),
  );
});

it('docs/ledger-format.md lists every column with its type', () => {
  const text = readFileSync(new URL('../../../docs/ledger-format.md', import.meta.url), 'utf8');
  for (const [table, columns] of Object.entries(TABLES)) {
    const section = text.split(/^##+ /m).find((one) => one.startsWith(`\`${table}\``)) ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)` \| (\w+)( or null)? \|/gm)].map(
      ([, name, kind, orNull]) => [name, `${kind}${orNull === undefined ? '' : '?'}`],
    );
    expect(listed).toEqual(Object.entries(columns));
  }
});
