/** Every filter finds exactly its matches, in order, however much of the ledger has been counted. */
import { randomBytes } from 'node:crypto';
import {
  type ApiKeyId,
  DAY_MS,
  type DidWeb,
  encodeUlid,
  type GrantId,
  type ReasonCode,
  type ReceiptId,
} from '@svc/protocol';
import type { DecisionListFilter } from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { mostPartitionsLocked } from '../../test/partition-locks.ts';
import { ColdReader } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { lowestReceiptId } from '../receipt-ids.ts';
import { decisionRepository } from '../repositories/decisions.ts';
import type { Shape } from './cold-days.ts';
import { type RowWithId, searchHotDays } from './search-decisions.ts';

const stores = withStores();

const cold = new ColdReader(null);
const IDS: Shape<RowWithId> = {
  sql: 'receipt_id as "receiptId"',
  columns: [],
  rowOf: () => {
    throw new Error('no day is cold');
  },
};
const FIRST_MS = Date.parse('2026-02-01T00:00:00Z');
const DAYS = 45;
const BUSY_DAY = 20;
const BUSY = 2_600;

const rps = ['big', 'small', 'tiny', 'none'].map((name) => `did:web:${name}.example` as DidWeb);
const principals = ['acme', 'corp', 'nobody'].map((name) => `did:web:${name}.example` as DidWeb);
const keyIds = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'] as ApiKeyId[];
const reasons: ReasonCode[] = [
  'GRANT_MALFORMED',
  'ISSUER_UNVERIFIED',
  'PROOF_REPLAYED',
  'GRANT_EXPIRED',
  'AUDIENCE_MISMATCH',
];
const grantIds = ['1', '2', '3', '9'].map((end) => `urn:svc:grant:01K${end.repeat(23)}` as GrantId);

interface Row {
  readonly id: ReceiptId;
  readonly at: number;
  readonly rp: DidWeb;
  readonly principal: DidWeb | null;
  readonly grant: GrantId | null;
  readonly key: ApiKeyId | null;
  readonly reason: ReasonCode | null;
}

/** Repeatable, so that a failure can be investigated. */
const random = (() => {
  let state = 7;
  return (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
})();
const pick = <T>(items: readonly T[], below = items.length): T => items[random(below)] as T;

const newRow = (at: number): Row => {
  const rp = pick([rps[0], rps[0], rps[0], rps[0], rps[1], rps[2]]) as DidWeb;
  const key = rp === rps[0] ? pick([...keyIds.slice(0, 2), null]) : (keyIds[2] ?? null);
  const common = { id: `drc_${encodeUlid(at, randomBytes(10))}` as ReceiptId, at, rp, key };
  const reason = random(5) === 0 ? pick(reasons, 4) : null;
  if (reason === 'GRANT_MALFORMED') return { ...common, reason, principal: null, grant: null };
  // Several Principals sign under the id of the third Grant; an unverified one is not named.
  if (reason === 'ISSUER_UNVERIFIED')
    return { ...common, reason, principal: null, grant: grantIds[2] ?? null };
  const issuer = random(2);
  const grant = random(3) === 0 ? grantIds[2] : grantIds[issuer];
  return { ...common, reason, principal: principals[issuer] ?? null, grant: grant ?? null };
};

/** Days without rows, days with few, and one with many; some ids share a millisecond. */
const rows: readonly Row[] = Array.from({ length: DAYS }, (_, day) => {
  const count = day === BUSY_DAY ? BUSY : pick([0, 1, 3, 12]);
  return Array.from({ length: count }, () => newRow(FIRST_MS + day * DAY_MS + random(900) * 96_000));
})
  .flat()
  .sort((a, b) => (a.id > b.id ? -1 : 1));

beforeAll(() =>
  withSession(stores.url, async (session) => {
    const last = new Date(FIRST_MS + DAYS * DAY_MS);
    await session.query('select svc_ensure_receipt_partitions($1, $2)', [new Date(FIRST_MS), last]);
    const column = (name: keyof Row) => rows.map((row) => row[name]);
    await session.query(
      `insert into receipts (receipt_id, relying_party, principal, grant_id, key_id, decision, reason, evaluated_at,
         jws, content_hash)
       select id, rp, principal, grant_id, key_id, case when reason is null then 'ALLOW' else 'DENY' end, reason,
         to_timestamp(ms / 1000.0), 'eyj.w.s', sha256('eyj.w.s')
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
         as row (id, rp, principal, grant_id, key_id, reason, ms)`,
      (['id', 'rp', 'principal', 'grant', 'key', 'reason', 'at'] as const).map(column),
    );
  }),
);

/** Counts the older receipts, a few hundred at a time. */
const countUntil = (ms: number) =>
  withSession(stores.url, async (session) => {
    await session.query('update ledger_seal set sealed_until = to_timestamp($1 / 1000.0)', [ms]);
    while ((await stores.first.usage.countSealed(300)) > 0);
  });

const naive = (filter: DecisionListFilter, limit: number): ReceiptId[] =>
  rows
    .filter(
      ({ id, at, rp, principal, grant, key, reason }) =>
        (filter.relyingParties === null || filter.relyingParties.includes(rp)) &&
        (filter.sinceMs === undefined || at >= filter.sinceMs) &&
        (filter.untilMs === undefined || at < filter.untilMs) &&
        (filter.decision === undefined || (filter.decision === 'ALLOW') === (reason === null)) &&
        (filter.reason === undefined || filter.reason === reason) &&
        (filter.principal === undefined || filter.principal === principal) &&
        (filter.grantId === undefined || filter.grantId === grant) &&
        (filter.keyId === undefined || filter.keyId === key) &&
        (filter.beforeId === undefined || id < filter.beforeId),
    )
    .slice(0, limit)
    .map(({ id }) => id);

const instant = fc.oneof(
  fc.integer({ min: FIRST_MS - DAY_MS, max: FIRST_MS + (DAYS + 1) * DAY_MS }),
  fc.integer({ min: 0, max: DAYS }).map((day) => FIRST_MS + day * DAY_MS),
  fc.constantFrom(...rows.map(({ at }) => at)),
  fc.constantFrom(0, -62_135_596_800_000, 253_402_300_799_999),
);
const beforeId = fc.oneof(
  fc.constantFrom(...rows.map(({ id }) => id)),
  instant.map((ms) => lowestReceiptId(ms) as ReceiptId),
  fc.constantFrom(`drc_${'0'.repeat(26)}` as ReceiptId, `drc_7${'Z'.repeat(25)}` as ReceiptId),
);
const relyingParties = fc.oneof(
  fc.constant(null),
  fc.subarray(rps),
  fc.constantFrom(...rps.map((rp) => [rp])),
);
const members = {
  sinceMs: instant,
  untilMs: instant,
  decision: fc.constantFrom('ALLOW' as const, 'DENY' as const),
  reason: fc.constantFrom(...reasons),
  principal: fc.constantFrom(...principals),
  grantId: fc.constantFrom(...grantIds),
  keyId: fc.constantFrom(...keyIds),
  beforeId,
};
/** Few members at a time: all of them together match nothing. */
const filters: fc.Arbitrary<DecisionListFilter> = fc
  .subarray(Object.keys(members) as (keyof typeof members)[], { maxLength: 3 })
  .chain((names) =>
    fc.record({ relyingParties, ...Object.fromEntries(names.map((name) => [name, members[name]])) }),
  );

/** Before the busy day, in the middle of it, in the middle of a later one, and after all days. */
const UNTIL = [BUSY_DAY, BUSY_DAY + 0.5, DAYS - 9.3, DAYS + 1];

it('a search with any filter and cursor finds exactly its matches, newest first, for any counted part of the ledger', async () => {
  for (const days of UNTIL) {
    await countUntil(FIRST_MS + days * DAY_MS);
    const law = fc.asyncProperty(filters, fc.constantFrom(1, 2, 7, 50, 201, 5_001), async (filter, limit) => {
      const right = naive(filter, limit);
      expect((await stores.first.decisions.listIds(filter, limit)).items).toEqual(right);
      const { items: listed } = await stores.first.decisions.list(filter, limit);
      expect(listed.map(({ receiptId }) => receiptId)).toEqual(right);
    });
    await fc.assert(law, { numRuns: sampled({ quick: 6, deep: 120 }) });
  }
}, 60_000);

it('no statement of a search or an export locks more than a month of partitions', async () => {
  const common = { relyingParties: null };
  const searches: DecisionListFilter[] = [
    common,
    { relyingParties: rps },
    { ...common, decision: 'DENY' },
    { ...common, principal: principals[2] as DidWeb },
    ...grantIds.map((grantId) => ({ ...common, grantId })),
  ];
  for (const countedUntilMs of [FIRST_MS, FIRST_MS + (DAYS + 1) * DAY_MS]) {
    await runSql(stores.url, 'update ledger_count set counted_before = $1', [
      lowestReceiptId(countedUntilMs),
    ]);
    for (const filter of searches) {
      const most = await mostPartitionsLocked(stores.url, (database) =>
        searchHotDays({ database, cold }, filter, IDS, 5_001),
      );
      expect(most).toBeLessThanOrEqual(31);
    }
  }
  const ids = rows.map(({ id }) => id);
  const exported = await mostPartitionsLocked(stores.url, (database) =>
    decisionRepository(database, cold).listForExport(ids, 'jws'),
  );
  expect(exported).toBeLessThanOrEqual(31);
});

it('an export that meets a stored text that is not a Receipt fails, and its error names the id', async () => {
  const none = [
    ['=HYPERLINK("x")', 'jws'],
    ['-a.b.c', 'jws'],
    ['eyj.w.s"', 'jws'],
    ['eyj.w.s', 'text'],
  ] as const;
  const atMs = FIRST_MS - 2 * DAY_MS;
  const receiptId = lowestReceiptId(atMs) as ReceiptId;
  for (const [jws, form] of none)
    await withSession(stores.url, async (session) => {
      await session.query('begin');
      await session.query('select svc_ensure_receipt_partitions($1, $1)', [new Date(atMs)]);
      await session.query(
        `insert into receipts (receipt_id, relying_party, decision, reason, evaluated_at, jws, content_hash)
         values ($1, 'did:web:x.example', 'DENY', 'GRANT_MALFORMED', $2, $3, sha256(convert_to($3, 'UTF8')))`,
        [receiptId, new Date(atMs), jws],
      );
      const read: Database['read'] = async ({ values, ...statement }) =>
        (await session.query({ ...statement, values: [...values] })).rows;
      const exporting = decisionRepository({ read, write: read }, cold).listForExport([receiptId], form);
      const detail = `what is stored as ${receiptId} is no Receipt`;
      await expect(exporting).rejects.toMatchObject({ code: 'INTERNAL', detail });
      await session.query('rollback');
    });
});
