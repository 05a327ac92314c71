/**
 * Reading one decision on the Principal's own Grants, or all. An incomplete answer, or one about something else, is an
 * error.
 */
import type { JsonObject } from '@svc/codec';
import { type Reply, startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { createPrincipalClient } from '../src/index.ts';

const DID = 'did:web:acme.example';
const ME: Reply = {
  json: {
    subject: DID,
    role: 'principal',
    key_id: '3fa1c09be742',
    service_did: 'did:web:svc.example',
    env: 'development',
  },
};
const idOf = (i: number) => `drc_01KAGT3Z5M8Q2R7V9X1C4E${String(1000 + i)}`;
const rowOf = (i: number): JsonObject => ({
  receipt_id: idOf(i),
  decision: 'ALLOW',
  reason: null,
  evaluated_at: '2026-11-20T10:47:39.277Z',
  principal: DID,
  grant_id: 'urn:svc:grant:01KAGT3Z5M8Q2R7V9X1C4E6H8M',
  agent: 'did:key:z6MksfbemfxmHksEVufvPpiYfCnHH5VxpcPA9na36GXu3mwS',
  rp: 'did:web:shop.example',
  key_id: null,
  action_type: 'commerce:purchase',
  amount: 100,
  currency: 'USD',
  resource: 'order/1 \u2028 é',
  method: null,
  receipt: { receipt_id: idOf(i) },
  outcomes: [],
});
const lines = (...rows: JsonObject[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');
const page = (text: string, rows: number, next = ''): Reply => ({
  text,
  headers: {
    'content-type': 'application/x-ndjson',
    'x-svc-rows': String(rows),
    'x-svc-next-cursor': next,
  },
});
const clientOf = (baseUrl: string) =>
  createPrincipalClient({ baseUrl, apiKey: 'dk_principal_test', random: () => 0, timeoutMs: 5_000 });

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

describe('a decision of a Principal', () => {
  const decided = { receipt: { receipt_id: idOf(1) }, outcomes: [] };

  it('is read with an org key under the given DID, and the error asks for the DID where none is given', async () => {
    const ofOrg: Reply = {
      json: { ...(ME.json as object), role: 'org:admin', subject: 'org_01KAGT3Z5M8Q2R7V9X1C4E6H8M' },
    };
    await using server = await startServer(({ path }) => (path === '/me' ? ofOrg : { json: decided }));
    const of = (more: object) =>
      createPrincipalClient({ baseUrl: server.baseUrl, apiKey: 'dk_org_test', ...more }).decisions;
    expect(await of({ principal: DID }).get(idOf(1))).toEqual(decided);
    expect(server.received.map(({ path }) => path)).toEqual([
      `/principals/${encodeURIComponent(DID)}/decisions/${idOf(1)}`,
    ]);
    await expect(of({}).get(idOf(1))).rejects.toThrow('name the member as `principal`');
    expect(() => of({ principal: 'acme.example' })).toThrow(/principal.*did:web/);
  });

  it('is read under the Principal’s DID, with its Receipt and outcomes', async () => {
    await using server = await startServer([ME, { json: decided }]);
    expect(await clientOf(server.baseUrl).decisions.get(idOf(1))).toEqual(decided);
    expect(server.received.map(({ path }) => path)).toEqual([
      '/me',
      `/principals/${encodeURIComponent(DID)}/decisions/${idOf(1)}`,
    ]);
  });

  it('is refused where the answer is about another decision, or the id is malformed', async () => {
    await using server = await startServer([ME, { json: decided }]);
    const { decisions } = clientOf(server.baseUrl);
    await expect(decisions.get(idOf(2))).rejects.toMatchObject({ kind: 'bad-response' });
    const asked = server.received.length;
    await expect(decisions.get('..')).rejects.toMatchObject({ kind: 'invalid-argument' });
    expect(server.received).toHaveLength(asked);
  });
});

describe('the export of a Principal’s decisions', () => {
  it('asks for the Principal’s own decisions page by page, and yields every row with its Receipt', async () => {
    await using server = await startServer([
      ME,
      page(lines(rowOf(0), rowOf(1)), 2, 'older'),
      page(lines(rowOf(2)), 1),
    ]);
    const { decisions } = clientOf(server.baseUrl);
    const rows = await collect(decisions.export({ rp: 'did:web:shop.example', decision: 'ALLOW', limit: 2 }));
    expect(rows).toEqual([rowOf(0), rowOf(1), rowOf(2)]);
    const asked = server.received.map(({ path }) => new URL(path, server.baseUrl));
    expect(asked.map(({ pathname }) => pathname)).toEqual([
      '/me',
      `/principals/${encodeURIComponent(DID)}/decisions/export`,
      `/principals/${encodeURIComponent(DID)}/decisions/export`,
    ]);
    expect(asked.slice(1).map(({ searchParams }) => Object.fromEntries(searchParams))).toEqual(
      [{}, { cursor: 'older' }].map((from) => ({
        ...{ rp: 'did:web:shop.example', decision: 'ALLOW', limit: '2', format: 'ndjson' },
        ...from,
      })),
    );
  });

  it.each([
    ['has fewer rows than were announced', page(lines(rowOf(0)), 2)],
    ['repeats a cursor', page(lines(rowOf(0)), 1, 'again')],
    [
      'holds the Receipt of another decision',
      page(lines({ ...rowOf(0), receipt: { receipt_id: idOf(1) } }), 1),
    ],
    ['has no count', { text: '', headers: { 'content-type': 'application/x-ndjson' } }],
  ] satisfies [string, Reply][])('throws where it %s', async (_, reply) => {
    await using server = await startServer([ME, reply, reply, reply]);
    await expect(collect(clientOf(server.baseUrl).decisions.export())).rejects.toMatchObject({
      kind: 'bad-response',
    });
  });

  it('is one CSV file with one header, whatever its pages', async () => {
    await using server = await startServer([ME, page('a,b\n1,2\n', 1, 'older'), page('a,b\n3,4\n', 1)]);
    const text = (await collect(clientOf(server.baseUrl).decisions.exportCsv())).join('');
    expect(text).toBe('a,b\n1,2\n3,4\n');
  });
});
