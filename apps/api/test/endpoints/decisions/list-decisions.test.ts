/** `GET /decisions` (interface §Decisions): every filter, every caller, every invalid query. */

import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import type { ContractAnswer } from '../../world/contract-call.ts';
import {
  type DecisionRow,
  insertDecisionRows,
  newDecisionRow,
  newestFirst,
} from '../../world/decision-rows.ts';
import { withOwnDeployment } from '../../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withOwnDeployment();
/** Fixed within the open day, so that every filter matches some of the rows. */
const START_MS = Math.floor(Date.now() / 1000) * 1000 - 3_000;

let orgId: string;
let own: Tenants;
let sister: Tenants;
let foreign: Tenants;
let rows: DecisionRow[];

const KEY_IDS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb'];
const REASONS = ['PROOF_REPLAYED', 'GRANT_EXPIRED', 'GRANT_MALFORMED'];
const GRANT_IDS = ['1', '2'].map((end) => `urn:svc:grant:01K${end.repeat(23)}`);

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  sister = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: await deployment.createOrg() });
  const body = await verifyBody(own, await issueGrant(own));
  const receipt = receiptOf(await deployment.call('POST', '/verify', { key: own.rpKey, body }));
  const pick = <T>(items: readonly T[], i: number): T => items[i % items.length] as T;
  const made = Array.from({ length: 240 }, (_, i) => {
    const reason = i % 3 === 0 ? pick(REASONS, Math.floor(i / 3)) : null;
    const isNamed = reason !== 'GRANT_MALFORMED';
    return newDecisionRow(START_MS + (i % 2_000), {
      rp: pick([own, own, sister, foreign], Math.floor(i / 5)).rpDid,
      reason,
      key_id: pick([...KEY_IDS, null], i),
      principal: isNamed ? pick([own.principalDid, sister.principalDid], i) : null,
      grant_id: isNamed ? pick(GRANT_IDS, i) : null,
      agent: isNamed ? own.agent.did : null,
      ...(i % 4 === 0
        ? { action_type: 'api:call', method: 'GET', resource: 'https://api.example/v1?q="1"' }
        : { action_type: 'commerce:purchase', amount: i, currency: 'USD', resource: `order/${i}` }),
    });
  });
  await insertDecisionRows(deployment.sql, made, receipt.receipt);
  const { rows: first } = await deployment.sql.query<{ key_id: string }>(
    'select key_id from receipts where receipt_id = $1',
    [receipt.receipt_id],
  );
  const verified = newDecisionRow(0, {
    rp: own.rpDid,
    principal: own.principalDid,
    grant_id: receipt.grant_id ?? null,
    agent: own.agent.did,
    key_id: first[0]?.key_id ?? null,
    action_type: 'commerce:purchase',
    amount: 100,
    currency: 'USD',
    resource: 'order/1',
  });
  const { receipt_id, evaluated_at } = receipt;
  rows = newestFirst([...made, { ...verified, receipt_id, evaluated_at }]);
});

interface Page {
  readonly decisions: DecisionRow[];
  readonly next_cursor: string | null;
}
const pageOf = ({ json }: ContractAnswer) => json as unknown as Page;
const rowsOf = (...tenants: readonly Tenants[]) =>
  rows.filter(({ rp }) => tenants.some(({ rpDid }) => rpDid === rp));
const list = (key: string, query: string) => deployment.call('GET', `/decisions?${query}`, { key });

const readAll = async (key: string, query: string): Promise<DecisionRow[]> => {
  const all: DecisionRow[] = [];
  for (let from: string | null = ''; from !== null; ) {
    const page = pageOf(await list(key, `${query}${from}`));
    all.push(...page.decisions);
    from = page.next_cursor === null ? null : `&cursor=${page.next_cursor}`;
  }
  return all;
};

describe('GET /decisions', () => {
  it('lists every decision once, newest first, with every field, including one just made by /verify', async () => {
    expect(await readAll(own.rpKey, 'limit=17')).toEqual(rowsOf(own));
  });

  it('returns 50 rows by default, and no cursor on a last page that is full', async () => {
    const key = await deployment.createKey('rp', own.rpDid);
    expect(pageOf(await list(key, '')).decisions).toHaveLength(50);
    const total = rowsOf(own).length;
    expect(total).toBeLessThanOrEqual(200);
    expect(pageOf(await list(key, `limit=${total}`)).next_cursor).toBeNull();
    expect(pageOf(await list(key, `limit=${total - 1}`)).next_cursor).not.toBeNull();
  });

  it('is empty for a relying party without decisions', async () => {
    const { rpKey } = await deployment.createTenants();
    expect(pageOf(await list(rpKey, ''))).toEqual({ decisions: [], next_cursor: null });
  });
});

describe('The scope of GET /decisions', () => {
  it('is an RP key’s own decisions, the decisions of all members for an org key, and all for the operator', async () => {
    expect(await readAll(foreign.rpKey, 'limit=200')).toEqual(rowsOf(foreign));
    for (const role of ['org:read', 'org:admin'] as const) {
      const key = await deployment.createKey(role, orgId);
      expect(await readAll(key, 'limit=200')).toEqual(rowsOf(own, sister));
    }
    expect(await readAll(ADMIN_TOKEN, 'limit=200')).toEqual(rows);
  });

  it('narrows to one relying party by rp; one outside the scope answers 404 exactly as one that does not exist', async () => {
    const org = await deployment.createKey('org:read', orgId);
    expect(await readAll(org, `rp=${sister.rpDid}`)).toEqual(rowsOf(sister));
    expect(await readAll(ADMIN_TOKEN, `rp=${foreign.rpDid}`)).toEqual(rowsOf(foreign));
    expect(await readAll(own.rpKey, `limit=200&rp=${own.rpDid}`)).toEqual(rowsOf(own));
    const absent = 'did:web:nobody.example';
    for (const [key, did] of [
      [org, foreign.rpDid],
      [own.rpKey, sister.rpDid],
    ] as const) {
      const seen = await list(key, `rp=${did}`);
      const none = await list(key, `rp=${absent}`);
      expect([seen.status, seen.text.replaceAll(did, '')]).toEqual([404, none.text.replaceAll(absent, '')]);
    }
    expect(pageOf(await list(ADMIN_TOKEN, `rp=${absent}`)).decisions).toEqual([]);
  });

  it('does not depend on the cursor: each key sees only its own rows below another key’s cursor', async () => {
    const callers = [
      { key: own.rpKey, sees: rowsOf(own) },
      { key: foreign.rpKey, sees: rowsOf(foreign) },
      { key: await deployment.createKey('org:read', orgId), sees: rowsOf(own, sister) },
      { key: ADMIN_TOKEN, sees: rows },
    ];
    for (const from of callers) {
      const { decisions, next_cursor } = pageOf(await list(from.key, 'limit=20'));
      const last = decisions.at(-1)?.receipt_id ?? '';
      for (const { key, sees } of callers) {
        const page = pageOf(await list(key, `limit=200&cursor=${next_cursor}`));
        expect(page.decisions).toEqual(sees.filter(({ receipt_id }) => receipt_id < last).slice(0, 200));
      }
    }
  });
});

/** A query parameter with the predicate of the rows that it selects; null where the parameter is invalid. */
interface Part {
  readonly name: string;
  readonly value: string;
  readonly keeps: ((row: DecisionRow) => boolean) | null;
}
const right = (name: string, value: string, keeps: Part['keeps']): Part => ({ name, value, keeps });
const wrong = (name: string, ...values: readonly string[]): Part[] =>
  values.map((value) => ({ name, value, keeps: null }));
const equals = (name: keyof DecisionRow, values: readonly string[]): Part[] =>
  values.map((value) => right(name, value, (row) => row[name] === value));
const msOf = (row: DecisionRow) => Date.parse(row.evaluated_at);
const time = (ms: number, more = '') => new Date(ms).toISOString().replace('Z', `${more}Z`);

const BAD_TIMES = [
  '',
  'yesterday',
  '2026-11-20',
  '2026-02-30T00:00:00Z',
  '2026-11-20T24:00:00Z',
  '2026-11-20T08:00:00+01:00',
  '2026-11-20 08:00:00Z',
  '1795161600',
  '2026-11-20T08:00:00.Z',
  '2026-11-20T08:00:00.1234567890Z',
];

const filterParts = (): Part[] => [
  ...[0, 500, 1_999, 2_000, -86_400_000, 86_400_000].flatMap((shift) => [
    right('since', time(START_MS + shift), (row) => msOf(row) >= START_MS + shift),
    right('until', time(START_MS + shift), (row) => msOf(row) < START_MS + shift),
    // Between two milliseconds.
    right('since', time(START_MS + shift, '001'), (row) => msOf(row) > START_MS + shift),
    right('until', time(START_MS + shift, '001'), (row) => msOf(row) <= START_MS + shift),
  ]),
  right('since', '0000-01-01T00:00:00Z', () => true),
  ...['+00:00', '-00:00', 'z'].map((zone) =>
    right(
      'since',
      time(START_MS + 500)
        .replace('T', 't')
        .replace('Z', zone),
      (row) => msOf(row) >= START_MS + 500,
    ),
  ),
  right('until', '9999-12-31T23:59:59.999999999Z', () => true),
  right('until', '1969-12-31T23:59:59Z', () => false),
  ...wrong('since', ...BAD_TIMES),
  ...wrong('until', ...BAD_TIMES),
  ...equals('decision', ['ALLOW', 'DENY']),
  ...wrong('decision', '', 'allow', 'ALLOW,DENY', 'null'),
  ...equals('reason', [...REASONS, 'ISSUER_NOT_TRUSTED']),
  ...wrong('reason', '', 'BECAUSE', 'proof_replayed', "PROOF_REPLAYED' or '1'='1"),
  ...equals('principal', [own.principalDid, sister.principalDid, 'did:web:nobody.example']),
  ...wrong('principal', '', 'acme', 'did:web:', own.agent.did, "did:web:a' or 1=1 --", '%00'),
  ...equals('grant_id', [...GRANT_IDS, `urn:svc:grant:01K${'9'.repeat(23)}`]),
  ...wrong('grant_id', '', '01K', GRANT_IDS[0]?.toLowerCase() ?? '', `${GRANT_IDS[0]}x`),
  ...equals('key_id', [...KEY_IDS, 'cccccccccccc']),
  ...wrong('key_id', '', 'AAAAAAAAAAAA', 'aaaaaaaaaaa', 'unknown', 'null'),
  ...wrong('limit', '', '0', '201', '-1', '1.5', '1e2', ' 5', '05', '9'.repeat(20), 'all'),
  ...wrong('cursor', '', '!!', 'AAAA', 'a'.repeat(513), cursorOf('drc_8'), cursorOf(GRANT_IDS[0] ?? '')),
  ...wrong(
    'cursor',
    cursorOf(rows[3]?.receipt_id.toLowerCase() ?? ''),
    `${cursorOf(rows[3]?.receipt_id ?? '')}=`,
  ),
  ...['page', 'Since', 'rp[]', '__proto__', 'constructor', 'offset', 'format', ''].flatMap((name) =>
    wrong(name, 'x'),
  ),
];
const cursorOf = (id: string) => Buffer.from(id).toString('base64url');

describe('The filters of GET /decisions', () => {
  it('return exactly the rows that match all of them, in any combination, with any limit and cursor', async () => {
    const parts = filterParts().filter(({ keeps }) => keeps !== null);
    const law = fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...parts), { maxLength: 3, selector: ({ name }) => name }),
      fc.constantFrom(1, 9, 50, 200),
      fc.option(fc.constantFrom(...rows), { freq: 2 }),
      async (filters, limit, from) => {
        const query = new URLSearchParams(filters.map(({ name, value }): [string, string] => [name, value]));
        query.set('limit', String(limit));
        if (from !== null) query.set('cursor', cursorOf(from.receipt_id));
        const kept = rowsOf(own, sister).filter(
          (row) =>
            filters.every(({ keeps }) => keeps?.(row)) && (from === null || row.receipt_id < from.receipt_id),
        );
        const { decisions, next_cursor } = pageOf(await list(await orgKeys.next(), query.toString()));
        expect(decisions).toEqual(kept.slice(0, limit));
        const last = kept.length > limit ? cursorOf(kept[limit - 1]?.receipt_id ?? '') : null;
        expect(next_cursor).toBe(last);
      },
    );
    await fc.assert(law, { numRuns: sampled({ quick: 25, deep: 150 }) });
  });

  it('are refused with 400 and the parameter’s name if one is invalid, also on /decisions/export', async () => {
    const all = filterParts();
    const bad = all.filter(({ keeps }) => keeps === null);
    for (const one of bad) {
      const others = all.filter(({ keeps, name }) => keeps !== null && name !== one.name);
      const beside = others[(one.value.length * 7) % others.length] ?? one;
      const query = new URLSearchParams([
        [beside.name, beside.value],
        [one.name, one.value],
      ]);
      for (const path of ['/decisions', '/decisions/export']) {
        // An unknown parameter of the list, but a valid one of the export.
        if (path.endsWith('export') && ['format', 'limit'].includes(one.name)) continue;
        const { status, json } = await deployment.call('GET', `${path}?${query}`, {
          key: await orgKeys.next(),
        });
        expect([one, path, status, json.error]).toEqual([one, path, 400, 'INVALID_REQUEST']);
        if (one.name !== '') expect(json.message).toContain(one.name);
      }
    }
  });

  it('answer any query string with 200, 400 or 404', async () => {
    const names = [
      'since',
      'until',
      'decision',
      'reason',
      'principal',
      'grant_id',
      'key_id',
      'rp',
      'limit',
      'cursor',
    ];
    const name = fc.oneof(fc.constantFrom(...names), fc.string({ maxLength: 8 }));
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: 'binary' }),
      fc.constantFrom(...filterParts()).map((p) => p.value),
    );
    const encoded = fc.oneof(
      value.map((text) => encodeURIComponent(text)),
      fc.stringMatching(/^[!-"$-~]{0,30}$/),
    );
    const query = fc
      .array(
        fc.tuple(
          name.map((text) => encodeURIComponent(text)),
          encoded,
        ),
        { maxLength: 5 },
      )
      .map((pairs) => pairs.map((pair) => pair.join('=')).join('&'));
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        for (const path of ['/decisions', '/decisions/export']) {
          const { status } = await deployment.call('GET', `${path}?${text}`, { key: await orgKeys.next() });
          expect([200, 400, 404]).toContain(status);
        }
      }),
      { numRuns: sampled({ quick: 12, deep: 80 }) },
    );
  });
});

/** Several, since a key may make 120 calls a minute. */
const orgKeys = {
  calls: 0,
  key: '',
  async next(): Promise<string> {
    if (this.calls++ % 100 === 0) this.key = await deployment.createKey('org:read', orgId);
    return this.key;
  },
};
