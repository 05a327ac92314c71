import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatHash, hashLeaf, MerkleTree } from '@svc/merkle';
import { receiptTextOfStored } from '@svc/receipts';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { parquetMetadata } from 'hyparquet';
import { afterAll, describe, expect, it } from 'vitest';
import {
  ColdDayReader,
  type GroupSource,
  groupReader,
  packTables,
  proveReceipts,
  TABLES,
} from '../src/index.ts';
import { collect, DAY, idAt, type MadeUpDay, madeUpDay, openFolder, SIZES, sourceOf } from './days.ts';

const { objects, root, close } = await openFolder();
afterAll(close);

const pack = (day: MadeUpDay, batch?: number, sizes = SIZES) =>
  packTables(objects, DAY, sourceOf(day, batch), { sizes });
const [sample] = fc.sample(madeUpDay(14), { numRuns: 1, seed: 20_261_123 }) as [MadeUpDay];

const utf8 = new TextDecoder('utf-8', { fatal: true });
const encode = (text: string): string => Buffer.from(text).toString('base64url');
const withJws = (texts: readonly string[]): MadeUpDay => ({
  ...sample,
  receipts: sample.receipts.slice(0, texts.length).map((row, i) => ({ ...row, jws: texts[i] ?? '' })),
});

/** Reads as another thread does: query and result are passed as copies. */
const read = groupReader();
const handingOver: GroupSource = {
  readTail: (name, range) => objects.getRange(name, range),
  async readGroup(group, range, wanted) {
    const fetched = { ...group, group: await objects.getRange(group.name, range) };
    return structuredClone(await read(structuredClone(fetched), structuredClone(wanted)));
  },
};

describe('rows of a cold day', () => {
  it('contain each Receipt byte for byte as it was answered, whatever its body says', async () => {
    const body = fc
      .string({ unit: 'grapheme' })
      .map((said) => JSON.stringify({ action: said, receipt_id: 'drc_1', rp: 'x' }));
    const law = fc.asyncProperty(fc.array(body, { minLength: 1, maxLength: 8 }), async (bodies) => {
      const jws = bodies.map((text) => `${encode('{"alg":"EdDSA"}')}.${encode(text)}.${encode('signed')}`);
      const day = withJws(jws);
      const reader = new ColdDayReader(objects, { tables: await pack(day) }, handingOver);
      const ids = day.receipts.map(({ receipt_id: id }) => id);
      const found = await reader.findTexts(ids, { columns: [], form: 'text' });
      expect(found.map(({ text }) => utf8.decode(text))).toEqual(jws.map(receiptTextOfStored));
      expect(found.every(({ text }) => utf8.decode(text).includes('"receipt":"'))).toBe(true);
    });
    await fc.assert(law, { numRuns: sampled({ quick: 8, deep: 300 }) });
  });

  it('are read correctly although page memory is reused, in each form and repeatedly', async () => {
    const [first] = sample.receipts;
    const bodies = Array.from({ length: 300 }, (_, i) =>
      JSON.stringify({ action: `é${randomBytes(1_500).toString('hex')}`, receipt_id: `drc_${i}`, rp: 'x' }),
    );
    const receipts = bodies.map((body, i) => ({
      ...(first as NonNullable<typeof first>),
      ...{
        receipt_id: idAt(i / 300, i),
        evaluated_at: BigInt(i),
        resource: `resource ${i}`,
        agent: `agent ${i}`,
      },
      jws: `${encode('{"alg":"EdDSA"}')}.${encode(body)}.${randomBytes(64).toString('base64url')}`,
    }));
    const sizes = { rowsPerGroup: 300, rowsPerObject: 300 };
    const reader = new ColdDayReader(objects, { tables: await pack({ ...sample, receipts }, 64, sizes) });
    const ids = receipts.map(({ receipt_id: id }) => id);
    for (let i = 0; i < sampled({ quick: 2, deep: 3 }); i++) {
      const [texts, jws] = [
        await reader.findTexts(ids, { columns: ['evaluated_at', 'resource', 'agent'], form: 'text' }),
        await reader.findTexts(ids, { columns: [], form: 'jws' }),
      ];
      // Compared as text, since a comparison of buffers goes byte by byte.
      expect(texts.map((row) => ({ ...row, text: utf8.decode(row.text) }))).toEqual(
        receipts.map(({ receipt_id, evaluated_at, resource, agent, jws: stored }) => ({
          ...{ receipt_id, evaluated_at, resource, agent },
          text: receiptTextOfStored(stored),
        })),
      );
      expect(jws.map(({ text }) => utf8.decode(text))).toEqual(receipts.map((row) => row.jws));
      for (const row of receipts.slice(0, 3)) expect(await reader.findReceipt(row.receipt_id)).toEqual(row);
      expect(await collect(reader.receipts())).toEqual(receipts);
    }
  });

  it('are refused as text if a stored JWS is not a Receipt', async () => {
    for (const jws of ['none', `${encode('{"alg":"EdDSA"}')}.${encode('{"a":1}')}.${encode('signed')}`]) {
      const day = withJws([jws]);
      const reader = new ColdDayReader(objects, { tables: await pack(day) });
      const ids = day.receipts.map(({ receipt_id: id }) => id);
      const texts = reader.findTexts(ids, { columns: [], form: 'text' });
      await expect(texts).rejects.toThrow(`what is stored as ${ids[0]} is no Receipt`);
    }
  });

  it('are read back unchanged, all in order and each by its id, whatever they contain', async () => {
    const law = fc.asyncProperty(madeUpDay(), async (day) => {
      const reader = new ColdDayReader(objects, { tables: await pack(day) });
      expect(await collect(reader.receipts())).toEqual(day.receipts);
      expect(await collect(reader.rows('attestations'))).toEqual(day.attestations);
      expect(await collect(reader.rows('consumption_events'))).toEqual(day.consumptionEvents);
      const of = <Row extends { receipt_id: string }>(rows: readonly Row[], id: string) =>
        rows.filter(({ receipt_id }) => receipt_id === id);
      for (let i = 0; i < 17; i++) {
        const id = idAt(i / 40, i);
        expect(await reader.findReceipt(id)).toEqual(of(day.receipts, id)[0] ?? null);
        expect(await reader.findAttestations(id)).toEqual(of(day.attestations, id));
        expect(await reader.findConsumption(id)).toEqual(of(day.consumptionEvents, id));
      }
      expect(await reader.findReceipt(idAt(0.99, 7))).toBeNull();
    });
    await fc.assert(law, { numRuns: sampled({ quick: 8, deep: 300 }) });
  });

  it('are the same if requests to the group reader and its results are passed as copies, as between threads', async () => {
    const law = fc.asyncProperty(madeUpDay(3), async (day) => {
      const reader = new ColdDayReader(objects, { tables: await pack(day) }, handingOver);
      const ids = day.receipts.map(({ receipt_id: id }) => id);
      for (const row of day.receipts) expect(await reader.findReceipt(row.receipt_id)).toEqual(row);
      for (const id of ids) {
        expect(await reader.findAttestations(id)).toEqual(
          day.attestations.filter(({ receipt_id }) => receipt_id === id),
        );
        expect(await reader.findConsumption(id)).toEqual(
          day.consumptionEvents.filter(({ receipt_id }) => receipt_id === id),
        );
      }
    });
    await fc.assert(law, { numRuns: sampled({ quick: 4, deep: 100 }) });
  });

  it('are found by filter and id range, in either order, with the requested columns, and no others', async () => {
    const law = fc.asyncProperty(madeUpDay(6), fc.nat(), fc.boolean(), async (day, seed, isDescending) => {
      const reader = new ColdDayReader(objects, { tables: await pack(day) });
      const { receipts } = day;
      const one = receipts[seed % receipts.length];
      const at = (i: number) => receipts[(seed + i) % receipts.length]?.receipt_id ?? '';
      const where = [
        { column: 'principal', oneOf: [one?.principal ?? null, 'did:web:nobody.example'] },
        ...(seed % 2 === 0 ? [{ column: 'reason', oneOf: [one?.reason ?? null] }] : []),
      ];
      const [from, before] = [at(1), at(4)].sort() as [string, string];
      const after = seed % 3 === 0 ? at(2) : '';
      const expected = receipts
        .filter(({ receipt_id: id }) => id >= from && id > after && id < before)
        .filter(({ principal }) => where[0]?.oneOf.includes(principal) === true)
        .filter(({ reason }) => where[1]?.oneOf.includes(reason) ?? true)
        .map(({ receipt_id, amount, jws }) => ({ receipt_id, amount, jws }));
      const columns = ['amount', 'jws'] as const;
      const found = await collect(
        (async function* () {
          for await (const { rows } of reader.scan({ columns, where, from, after, before, isDescending }))
            yield rows;
        })(),
      );
      if (isDescending) expected.reverse();
      expect(found).toEqual(expected);
      // At most the requested number of rows of each group, the first in order.
      const range = { columns, where, from, after, before, isDescending };
      const [all, some]: [unknown[], unknown[]] = [[], []];
      for await (const { rows } of reader.scan(range)) all.push(rows.slice(0, 2));
      for await (const { rows } of reader.scan({ ...range, most: 2 })) some.push(rows);
      expect(some).toEqual(all);
    });
    await fc.assert(law, { numRuns: sampled({ quick: 8, deep: 1_000 }) });
  });

  it('become the same objects with the same names, whatever their batches', async () => {
    const tables = await pack(sample);
    expect(tables.receipts.length).toBeGreaterThan(1);
    for (const batch of [1, 3, 100]) expect(await pack(sample, batch)).toEqual(tables);
  });

  it('are split by size too: large rows into smaller groups and objects, the same whatever their batches', async () => {
    const sizes = { rowsPerGroup: 100, charsPerGroup: 10_000, rowsPerObject: 1_000, bytesPerObject: 20_000 };
    const receipts = Array.from({ length: 60 }, (_, i) => ({
      ...(sample.receipts[0] as MadeUpDay['receipts'][number]),
      receipt_id: idAt(i / 60, i),
      // The tenth row alone exceeds the size of a group, so it is a group of its own.
      jws: randomBytes(i === 10 ? 12_000 : 900).toString('base64url'),
    }));
    const tables = await pack({ ...sample, receipts }, 60, sizes);
    for (const batch of [1, 7]) expect(await pack({ ...sample, receipts }, batch, sizes)).toEqual(tables);
    const groups = tables.receipts.flatMap((object) => object.groups);
    expect(groups.find(({ first }) => first === receipts[10]?.receipt_id)?.rows).toBe(1);
    expect(Math.max(...groups.map(({ rows }) => rows))).toBeLessThan(10);
    expect(tables.receipts.length).toBeGreaterThan(2);
    for (const { bytes } of tables.receipts) expect(bytes).toBeLessThan(50_000);
    expect(await collect(new ColdDayReader(objects, { tables }).receipts())).toEqual(receipts);
  });

  it('are refused if they are out of order or contain a Receipt twice', async () => {
    const [first, second] = sample.receipts;
    if (first === undefined || second === undefined) throw new Error('no sample');
    for (const receipts of [
      [second, first],
      [first, first],
    ])
      await expect(pack({ ...sample, receipts })).rejects.toThrow(RangeError);
  });

  it('yield the Merkle roots over the ids and over the bytes of the day', async () => {
    const { treeSize, root: ids, contentRoot } = await proveReceipts(objects, await pack(sample));
    const rootOf = (leaves: readonly (string | Uint8Array)[]) =>
      `sha256:${formatHash(new MerkleTree(leaves.map((leaf) => hashLeaf(leaf))).root)}`;
    expect([treeSize, ids, contentRoot]).toEqual([
      sample.receipts.length,
      rootOf(sample.receipts.map(({ receipt_id: id }) => id)),
      rootOf(sample.receipts.map(({ jws }) => createHash('sha256').update(jws).digest())),
    ]);
    const altered = sample.receipts.map((row, i) => (i === 5 ? { ...row, jws: `${row.jws}x` } : row));
    const other = await proveReceipts(objects, await pack({ ...sample, receipts: altered }));
    expect([other.root === ids, other.contentRoot === contentRoot]).toEqual([true, false]);
  });
});

describe('an object of a cold day', () => {
  it('has ZSTD columns, min and max of the full receipt_id and of each other searched column, and a page index of the payload', async () => {
    const receipts = Array.from({ length: 900 }, (_, i) => ({
      ...(sample.receipts[0] as MadeUpDay['receipts'][number]),
      receipt_id: idAt(i / 900, i % 256),
      jws: `e30.${Buffer.from(JSON.stringify({ note: `${i}`.padEnd(3_000) })).toString('base64url')}.AA`,
    }));
    const { receipts: entries } = await pack({ ...sample, receipts }, 900, {
      rowsPerGroup: 900,
      rowsPerObject: 900,
    });
    const [entry] = entries;
    const bytes = readFileSync(join(root, entry?.name ?? ''));
    const metadata = parquetMetadata(new Uint8Array(bytes).buffer);
    const columns = new Map(
      metadata.row_groups[0]?.columns.map((one) => [one.meta_data?.path_in_schema[0], one]),
    );
    expect([...columns.keys()]).toEqual(Object.keys(TABLES.receipts));
    expect(columns.get('receipt_id')?.meta_data?.statistics).toMatchObject({
      min_value: entry?.first,
      max_value: entry?.last,
    });
    expect(columns.get('payload')?.offset_index_length).toBeGreaterThan(0);
    const withoutStatistics = [...columns].flatMap(([name, { meta_data: of }]) =>
      of?.statistics === undefined ? [name] : [],
    );
    expect(withoutStatistics).toEqual(['header', 'payload', 'signature', 'jws']);
    for (const [, column] of columns) expect(column.meta_data?.codec).toBe('ZSTD');
  });

  const readAll = async (tables: Awaited<ReturnType<typeof pack>>) => {
    const reader = new ColdDayReader(objects, { tables });
    for (const { receipt_id: id } of sample.receipts) await reader.findReceipt(id);
    for (const table of ['receipts', 'attestations', 'consumption_events'] as const)
      await collect(reader.rows(table));
  };

  /** Looks up each row by its id; each look-up gives the right rows or `wrong-bytes`. Number of failed look-ups. */
  const countFailedLookUps = async (tables: Awaited<ReturnType<typeof pack>>): Promise<number> => {
    const reader = new ColdDayReader(objects, { tables });
    const of = <Row extends { receipt_id: string }>(rows: readonly Row[], id: string) =>
      rows.filter(({ receipt_id }) => receipt_id === id);
    let failed = 0;
    const lookUp = async (found: Promise<unknown>, expected: unknown) => {
      const result = await found.catch((error: unknown) => {
        failed += 1;
        return error;
      });
      if (result instanceof Error) expect(result).toMatchObject({ kind: 'wrong-bytes' });
      else expect(result).toEqual(expected);
    };
    for (const row of sample.receipts) {
      const { receipt_id: id } = row;
      await lookUp(reader.findReceipt(id), row);
      await lookUp(reader.findAttestations(id), of(sample.attestations, id));
      await lookUp(reader.findConsumption(id), of(sample.consumptionEvents, id));
    }
    return failed;
  };
  const walkAll = async (tables: Awaited<ReturnType<typeof pack>>) => {
    const reader = new ColdDayReader(objects, { tables });
    for (const table of ['receipts', 'attestations', 'consumption_events'] as const)
      await collect(reader.rows(table));
  };

  it('with a flipped bit makes each walk over the day fail with wrong-bytes, and each look-up find the right rows or fail with it', async () => {
    const tables = await pack(sample);
    await readAll(tables);
    expect(await countFailedLookUps(tables)).toBe(0);
    const entries = Object.values(tables).flat();
    const law = fc.asyncProperty(
      fc.nat(),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      fc.nat(7),
      async (which, share, bit) => {
        const { name } = entries[which % entries.length] ?? { name: '' };
        const path = join(root, name);
        const bytes = readFileSync(path);
        const at = Math.floor(share * bytes.length);
        const flipped = Buffer.from(bytes);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        writeFileSync(path, flipped);
        try {
          await expect(walkAll(tables)).rejects.toMatchObject({ kind: 'wrong-bytes' });
          expect(await countFailedLookUps(tables)).toBeGreaterThan(0);
          await expect(objects.get(name)).rejects.toMatchObject({ kind: 'wrong-bytes' });
        } finally {
          writeFileSync(path, bytes);
        }
      },
    );
    await fc.assert(law, { numRuns: sampled({ quick: 8, deep: 1_000 }) });
    await readAll(tables);
  });

  it('that is missing, truncated or replaced by another one is detected', async () => {
    const tables = await pack(sample);
    const [first, second] = tables.receipts.map(({ name }) => join(root, name)) as [string, string];
    const bytes = readFileSync(first);
    writeFileSync(first, bytes.subarray(0, statSync(first).size - 1));
    await expect(readAll(tables)).rejects.toMatchObject({ kind: 'wrong-bytes' });
    writeFileSync(first, readFileSync(second));
    await expect(readAll(tables)).rejects.toMatchObject({ kind: 'wrong-bytes' });
    rmSync(first);
    await expect(readAll(tables)).rejects.toMatchObject({ kind: 'missing' });
    writeFileSync(first, bytes);
    await readAll(tables);
  });
});
