/** Days of generated rows with any values that PostgreSQL can store, and a folder for their objects. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjects } from '@svc/object-store';
import { DAY_MS, encodeBase64urlText, encodeUlid, type Sha256 } from '@svc/protocol';
import type { ObjectStore } from '@svc/service';
import { SERVICE } from '@svc/testkit/receipts/signed-receipts';
import fc from 'fast-check';
import {
  type AttestationRow,
  type ColdDay,
  type ConsumptionRow,
  type DayRows,
  proveReceipts,
  type ReceiptRow,
  SCHEMA_VERSION,
  TABLES,
} from '../src/index.ts';

export const DAY = '2026-10-01';

/** Small, so that a day of a few rows has several groups and objects. */
export const SIZES = { rowsPerGroup: 3, rowsPerObject: 6 };

/** A folder that is removed when `close` is called. */
export const openFolder = async (): Promise<{ objects: ObjectStore; root: string; close(): void }> => {
  const root = mkdtempSync(join(tmpdir(), 'svc-cold-'));
  const { objects } = await openObjects(pathToFileURL(root).href, null);
  return { objects, root, close: () => rmSync(root, { recursive: true, force: true }) };
};

export const idAt = (share: number, noise: number): string =>
  `drc_${encodeUlid(Date.parse(DAY) + Math.floor(share * (DAY_MS - 1)), new Uint8Array(10).fill(noise))}`;

/** Text that PostgreSQL can store: any characters but NUL. */
const text = fc.oneof(
  fc.constantFrom('', '\uFEFFmarked', '𝔊', 'ALLOW', "a';--", '\u{10FFFF}', ' '),
  fc.string({ unit: 'binary', maxLength: 40 }).map((one) => one.replaceAll('\0', '')),
);
const bigint = fc.oneof(
  fc.constantFrom(0n, -(2n ** 63n), 2n ** 63n - 1n),
  fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n),
);
const part = text.map((one) => encodeBase64urlText(one));
/**
 * Usually as the service signs it. Also text that is no JWS, and text that decodes but would be encoded differently.
 */
const jws = fc.oneof(
  { arbitrary: fc.tuple(part, part, part).map((parts) => parts.join('.')), weight: 4 },
  {
    arbitrary: fc.constantFrom(
      '',
      '.',
      '..',
      '...',
      'e30.e31.AA',
      'e30=.e30.AA',
      'gICA.e30.AA',
      'e30.e30.A B',
    ),
    weight: 1,
  },
  { arbitrary: text, weight: 1 },
);

const KINDS = {
  ...{ text, bytes: fc.uint8Array(), integer: bigint },
  // The extreme values of a bigint are no valid instants in most engines.
  instant: fc.bigInt(-(2n ** 62n), 2n ** 62n),
  ...{ small: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), flag: fc.boolean() },
};

const rowOf = (columns: Readonly<Record<string, string>>): fc.Arbitrary<Record<string, unknown>> =>
  fc.record(
    Object.fromEntries(
      Object.entries(columns).map(([name, kind]) => {
        const value = KINDS[kind.replace('?', '') as keyof typeof KINDS] as fc.Arbitrary<unknown>;
        return [name, kind.endsWith('?') ? fc.option(value) : value];
      }),
    ),
  );

const { header: _, payload: __, signature: ___, ...plain } = TABLES.receipts;

export interface MadeUpDay {
  readonly receipts: readonly ReceiptRow[];
  readonly attestations: readonly AttestationRow[];
  readonly consumptionEvents: readonly ConsumptionRow[];
}

/** Adds unique ascending ids. */
const numbered = (rows: readonly Record<string, unknown>[], perId: number) =>
  rows.map((row, i) => ({ ...row, receipt_id: idAt(Math.floor(i / perId) / 40, Math.floor(i / perId)) }));

export const madeUpDay = (least = 0): fc.Arbitrary<MadeUpDay> =>
  fc
    .record({
      receipts: fc.array(fc.tuple(rowOf(plain), jws), { minLength: least, maxLength: 16 }),
      attestations: fc.array(rowOf(TABLES.attestations), { maxLength: 12 }),
      consumptionEvents: fc.array(rowOf(TABLES.consumption_events), { maxLength: 8 }),
    })
    .map(({ receipts, attestations, consumptionEvents }) => ({
      receipts: numbered(
        receipts.map(([row, text]) => ({ ...row, jws: text })),
        1,
      ) as unknown as ReceiptRow[],
      attestations: numbered(attestations, 5) as unknown as AttestationRow[],
      consumptionEvents: numbered(consumptionEvents, 2) as unknown as ConsumptionRow[],
    }));

async function* batchesOf<Row>(rows: readonly Row[], size: number): AsyncGenerator<readonly Row[]> {
  for (let from = 0; from < rows.length; from += size) yield rows.slice(from, from + size);
}

/** Returns rows as a database would, `batch` at a time. */
export const sourceOf = (day: MadeUpDay, batch = 4): DayRows => ({
  receipts: () => batchesOf(day.receipts, batch),
  attestations: () => batchesOf(day.attestations, batch),
  consumptionEvents: () => batchesOf(day.consumptionEvents, batch),
});

/** The content of a signed manifest for these tables. */
export const manifestOf = async (objects: ObjectStore, tables: ColdDay['tables']): Promise<ColdDay> => {
  const { treeSize, root, contentRoot } = await proveReceipts(objects, tables);
  return {
    ...{ iss: SERVICE, day: DAY, iat: Date.parse(DAY) / 1000 + 40 * 86_400, schema: SCHEMA_VERSION, tables },
    ...{ tree_size: treeSize, root, content_root: contentRoot, replaces: null },
    checkpoint_hash: `sha256:${createHash('sha256').update('checkpoint').digest('hex')}` as Sha256,
  };
};

export const collect = async <Row>(batches: AsyncIterable<readonly Row[]>): Promise<Row[]> => {
  const rows: Row[] = [];
  for await (const batch of batches) rows.push(...batch);
  return rows;
};
