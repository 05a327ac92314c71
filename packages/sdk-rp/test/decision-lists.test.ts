import type { JsonObject } from '@svc/codec';
import { type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it, vi } from 'vitest';
import { createVerifier } from '../src/index.ts';
import { decide, grant, ISSUER, newProof, order, SERVICE, SHOP } from './world.ts';

const verifierOf = (baseUrl: string, timeoutMs = 5_000) =>
  createVerifier({ baseUrl, apiKey: 'dk_rp_test', serviceDid: SERVICE, random: () => 0, timeoutMs });

const receipts: JsonObject[] = [];
for (let i = 0; i < 5; i++)
  receipts.push(await decide({ grant, proof: await newProof(), action: order }, false));

const summaryOf = ({ receipt_id, decision, reason, evaluated_at, grant_id, agent }: JsonObject) => ({
  receipt_id,
  decision,
  reason,
  evaluated_at,
  principal: ISSUER,
  grant_id,
  agent,
  rp: SHOP,
  key_id: '3fa1c09be742',
  action_type: 'commerce:purchase',
  amount: 42_700,
  currency: 'USD',
  resource: 'order/1 \u2028 é',
  method: null,
});
const summaries = receipts.map(summaryOf);
const rows = receipts.map((receipt, i) => ({ ...summaries[i], receipt, outcomes: [] }));
const lines = (from: number, to: number) =>
  rows
    .slice(from, to)
    .map((row) => `${JSON.stringify(row)}\n`)
    .join('');

const page = (text: string, rowCount: number, nextCursor = '', more: object = {}): Reply => ({
  text,
  headers: {
    'content-type': 'application/x-ndjson',
    'x-svc-rows': String(rowCount),
    'x-svc-next-cursor': nextCursor,
  },
  ...more,
});

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

describe('the list of decisions', () => {
  it('is read page by page with its filter', async () => {
    await using server = await startServer([
      { json: { decisions: summaries.slice(0, 2), next_cursor: 'older' } },
      { json: { decisions: summaries.slice(2), next_cursor: null } },
    ]);
    const { decisions } = verifierOf(server.baseUrl);
    const filter = {
      since: new Date('2026-11-01T00:00:00Z'),
      reason: 'PROOF_REPLAYED',
      grantId: 'urn:svc:grant:01KAFQ0000ABCDEFGHJKMNPQRS',
      keyId: '3fa1c09be742',
      limit: 2,
    } as const;
    expect(await collect(decisions.list(filter))).toEqual(summaries);
    const asked = server.received.map(({ path }) =>
      Object.fromEntries(new URL(path, SERVICE_URL).searchParams),
    );
    const first = {
      since: '2026-11-01T00:00:00.000Z',
      reason: 'PROOF_REPLAYED',
      grant_id: filter.grantId,
      key_id: filter.keyId,
      limit: '2',
    };
    expect(asked).toEqual([first, { ...first, cursor: 'older' }]);
  });

  it('has a cursor on a single page, and refuses a malformed summary', async () => {
    const broken = { ...summaries[0], rp: 'shop' };
    await using server = await startServer([
      { json: { decisions: [], next_cursor: 'older' } },
      { json: { decisions: [broken], next_cursor: null } },
    ]);
    const { decisions } = verifierOf(server.baseUrl);
    expect(await decisions.page()).toEqual({ decisions: [], next_cursor: 'older' });
    await expect(decisions.page()).rejects.toMatchObject({ kind: 'bad-response' });
  });
});

const SERVICE_URL = 'https://svc.example';

describe('the export', () => {
  it('yields typed rows of all pages', async () => {
    await using server = await startServer([page(lines(0, 3), 3, 'older'), page(lines(3, 5), 2)]);
    const { decisions } = verifierOf(server.baseUrl);
    expect(await collect(decisions.export({ decision: 'ALLOW', limit: 3 }))).toEqual(rows);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/decisions/export?decision=ALLOW&limit=3&format=ndjson',
      '/decisions/export?decision=ALLOW&limit=3&format=ndjson&cursor=older',
    ]);
  });

  it('without rows is empty', async () => {
    await using server = await startServer([page('', 0)]);
    expect(await collect(verifierOf(server.baseUrl).decisions.export())).toEqual([]);
  });

  it('requests the next page only when the previous one is consumed', async () => {
    await using server = await startServer([page(lines(0, 2), 2, 'older'), page(lines(2, 3), 1)]);
    const exported = verifierOf(server.baseUrl).decisions.export();
    await exported.next();
    await exported.next();
    expect(server.received).toHaveLength(1);
    await exported.return();
    expect(server.received).toHaveLength(1);
  });

  it.each<[string, Reply, string]>([
    ['breaks off', page(lines(0, 2), 5, '', { cut: true }), 'network'],
    ['ends too soon', page(lines(0, 2), 3), 'bad-response'],
    ['has more rows than announced', page(lines(0, 3), 2), 'bad-response'],
    ['ends within a row', page(lines(0, 2).slice(0, -5), 2), 'bad-response'],
    ['ends without the last line feed', page(lines(0, 2).slice(0, -1), 2), 'bad-response'],
    ['has a row that is no JSON', page(`${lines(0, 1)}{,}\n`, 2), 'bad-response'],
    ['has a row without a Receipt', page(`${JSON.stringify(summaries[0])}\n`, 1), 'bad-response'],
    [
      'has the Receipt of another decision',
      page(`${JSON.stringify({ ...rows[0], receipt: receipts[1] })}\n`, 1),
      'bad-response',
    ],
    ['is not UTF-8', page('', 1, '', { text: new Uint8Array([0xff, 0x0a]) }), 'bad-response'],
    ['does not announce its number of rows', { text: lines(0, 1) }, 'bad-response'],
    ['repeats a cursor', page(lines(0, 1), 1, 'again'), 'bad-response'],
  ])('that %s is an error, not an end', async (_, reply, kind) => {
    await using server = await startServer([reply]);
    const exported = collect(verifierOf(server.baseUrl).decisions.export());
    await expect(exported).rejects.toMatchObject({ name: 'SvcError', kind });
  });

  it.each([
    [
      'its headers are refused',
      {},
      (rows: AsyncGenerator) => expect(rows.next()).rejects.toThrow('no count of rows'),
    ],
    [
      'its caller stops reading',
      { 'x-svc-rows': '3', 'x-svc-next-cursor': '' },
      async (rows: AsyncGenerator) => [await rows.next(), await rows.return(undefined)],
    ],
  ])('closes its connection where %s', async (_, headers, consume) => {
    const cancel = vi.fn();
    const fetchHalf: typeof fetch = async () =>
      new Response(
        new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode(lines(0, 1))), cancel }),
        { headers },
      );
    const half = createVerifier({ baseUrl: SERVICE_URL, apiKey: 'k', serviceDid: SERVICE, fetch: fetchHalf });
    await consume(half.decisions.export());
    expect(cancel).toHaveBeenCalled();
  });

  it('is retried before its first row, and reports a refusal with code, status and request id', async () => {
    const refused: Reply = {
      status: 400,
      headers: { 'svc-request-id': 'req-400' },
      json: { error: 'INVALID_REQUEST', message: 'no' },
    };
    await using server = await startServer([unavailable(), page(lines(0, 1), 1), refused]);
    const { decisions } = verifierOf(server.baseUrl);
    expect(await collect(decisions.export())).toHaveLength(1);
    await expect(collect(decisions.export())).rejects.toMatchObject({
      kind: 'refused',
      code: 'INVALID_REQUEST',
      status: 400,
      requestId: 'req-400',
    });
  });

  it('ends with the caller’s signal, and when nothing arrives for too long', async () => {
    await using server = await startServer(['silence']);
    const { decisions } = verifierOf(server.baseUrl, 20);
    await expect(collect(decisions.export())).rejects.toMatchObject({ kind: 'timeout' });
    const controller = new AbortController();
    const fetchHalf: typeof fetch = async () =>
      new Response(
        new ReadableStream({
          start: (stream) => stream.enqueue(new TextEncoder().encode(lines(0, 1))),
        }),
        { headers: { 'x-svc-rows': '2', 'x-svc-next-cursor': '' } },
      );
    const half = createVerifier({ baseUrl: SERVICE_URL, apiKey: 'k', serviceDid: SERVICE, fetch: fetchHalf });
    const exported = half.decisions.export({}, { signal: controller.signal });
    expect((await exported.next()).value).toEqual(rows[0]);
    controller.abort();
    await expect(exported.next()).rejects.toMatchObject({ kind: 'aborted' });
    const slow = half.decisions.export({}, { timeoutMs: 20 });
    await slow.next();
    await expect(slow.next()).rejects.toMatchObject({ kind: 'timeout' });
  });
});

describe('the export as CSV', () => {
  it('is one text with one header, whatever its pages', async () => {
    const header = '"receipt_id","resource"\r\n';
    await using server = await startServer([
      page(`${header}"drc_1","a\nb"\r\n`, 1, 'older'),
      page(`${header}"drc_2","'=1"\r\n`, 1, 'oldest'),
      page(header, 0),
    ]);
    const pieces = await collect(verifierOf(server.baseUrl).decisions.exportCsv());
    expect(pieces.join('')).toBe(`${header}"drc_1","a\nb"\r\n"drc_2","'=1"\r\n`);
    expect(server.received[0]?.path).toBe('/decisions/export?format=csv');
  });

  it.each([
    ['ends within a row', '"drc_1","FR"\r\n"drc_2","DE"', 2],
    ['ends within a cell', '"drc_1","FR"\r\n"drc_2","a ""b""\r\n', 2],
    ['lacks a row', '"drc_1","FR"\r\n"drc_2","a\r\nb"\r\n', 3],
    ['has a row too many', '"drc_1","FR"\r\n"drc_2","DE"\r\n', 1],
  ])('ends with an error at a page that %s, without reading the next', async (_, rows, announced) => {
    const header = '"receipt_id","country"\r\n';
    const next = page(`${header}"drc_4","IT"\r\n`, 1);
    await using server = await startServer([page(header + rows, announced, 'older'), next]);
    const exported = collect(verifierOf(server.baseUrl).decisions.exportCsv());
    await expect(exported).rejects.toMatchObject({ kind: 'bad-response' });
    expect(server.received).toHaveLength(1);
  });

  it('that breaks off is an error', async () => {
    await using server = await startServer([page('"receipt_id"\r\n', 1, '', { cut: true })]);
    const exported = collect(verifierOf(server.baseUrl).decisions.exportCsv());
    await expect(exported).rejects.toMatchObject({ kind: 'network' });
  });
});
