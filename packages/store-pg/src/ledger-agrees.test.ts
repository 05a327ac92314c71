/**
 * List, export, usage, statistics and metrics agree exactly with a recount of the rows, whatever decisions, outcomes
 * and corrections there are, and however many of them have been sealed and summed.
 */

import { randomBytes } from 'node:crypto';
import type { ApiKeyId, DidWeb, OrgId, ReceiptId } from '@svc/protocol';
import { dayOf } from '@svc/protocol';
import {
  type Caller,
  type Counts,
  exportDecisions,
  type GrantRecord,
  getDecisionStats,
  getUsage,
  listDecisions,
  metricsSource,
  type OutcomeReport,
  reportOutcome,
  type ServiceDeps,
  type Store,
} from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { type MovableClock, moveClockOf } from '@svc/testkit/store/movable-clock';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import {
  allowCommit,
  createWorld,
  denyCommit,
  insertGrant,
  insertOrg,
  type World,
} from '@svc/testkit/store/world';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';

const database = withDatabase();
const OUTCOME_TYPES = [
  'fulfilled',
  'cancelled',
  'dispute_opened',
  'dispute_resolved',
  'chargeback_received',
  'chargeback_reversed',
  'loss_reported',
] as const;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let clock: MovableClock;
let stores: Readonly<Record<'first' | 'second', Store>>;
let deps: ServiceDeps;
let org: OrgId;
let selfTest: OrgId;
let worlds: readonly { readonly world: World; readonly grant: GrantRecord; readonly keyIds: ApiKeyId[] }[];

beforeAll(async () => {
  const databaseUrl = database.url;
  clock = await moveClockOf(databaseUrl);
  stores = { first: openStore(databaseUrl), second: openStore(databaseUrl) };
  org = await insertOrg(stores.first);
  selfTest = await insertOrg(stores.first);
  const made = [];
  for (const orgId of [org, org, selfTest, null]) {
    const world = await createWorld(stores.first, orgId);
    if (orgId !== null) await stores.first.principals.setOrg(world.principal.did, orgId);
    const keyIds = [world.keyId, randomBytes(6).toString('hex') as ApiKeyId];
    made.push({ world, grant: await insertGrant(world), keyIds });
  }
  worlds = made;
  deps = {
    store: stores.first,
    clock,
    random: { bytes: (length: number) => randomBytes(length) },
    identity: { did: 'did:web:svc.test', formers: [] },
    selfTestOrgs: [selfTest],
  } as unknown as ServiceDeps;
});

afterAll(async () => {
  await Promise.all([stores.first.close(), stores.second.close()]);
});

const pick = <T>(items: readonly T[], index: number): T => items[index % items.length] as T;

type Step = (index: number) => Promise<void>;

/** `kind` and `index` select the decision, and whom it is about. */
const decide = async (rpIndex: number, principalIndex: number, kind: number, count: number) => {
  const { world, keyIds } = pick(worlds, rpIndex);
  const issuer = pick(worlds, principalIndex);
  const keyId = pick([...keyIds, null], kind) as ApiKeyId;
  const of = { ...world, principal: issuer.world.principal };
  const authenticated = { principal: issuer.world.principal.did, grantId: issuer.grant.id };
  const build = () => {
    const common = { keyId, evaluatedAtMs: Math.floor(clock.nowMs()) - 1 };
    if (kind % 3 === 0) return allowCommit(of, issuer.grant, common);
    if (kind % 3 === 1) return denyCommit(world, { ...common, reason: 'GRANT_SIGNATURE_INVALID' });
    const reason = pick(['GRANT_EXPIRED', 'PROOF_REPLAYED', 'AMOUNT_EXCEEDS_AUTHORITY'], kind);
    return denyCommit(world, { ...common, ...authenticated, reason });
  };
  // A later membership of an org or a new document changes the version, so it is read again.
  const { version } = (await stores.first.principals.find(of.principal.did)) ?? { version: -1 };
  Object.assign(of, { principal: { ...of.principal, version } });
  const outcomes = await stores.second.verify.commitDecisions(Array.from({ length: count }, build));
  expect(new Set(outcomes)).toEqual(new Set(['STORED']));
};

const report = async (decisionIndex: number, typeIndex: number, corrects: boolean) => {
  const { receipts, attestations } = await rawRows();
  const receipt = receipts.length === 0 ? undefined : pick(receipts, decisionIndex);
  if (receipt === undefined) return;
  const type = pick(OUTCOME_TYPES, typeIndex);
  const corrected = attestations.filter(
    (one) =>
      one.receiptId === receipt.receiptId &&
      one.correctionOf === null &&
      !attestations.some(({ correctionOf }) => correctionOf === one.attestationId),
  );
  const event: OutcomeReport = {
    type,
    occurred_at: '2026-11-20T08:00:00Z',
    ...(type === 'dispute_resolved' ? { resolution: 'indeterminate' } : {}),
    ...(type === 'loss_reported'
      ? { loss_amount: typeIndex * 17, currency: pick(['USD', 'EUR'], decisionIndex) }
      : {}),
    ...(corrects && corrected[0] !== undefined ? { correction_of: corrected[0].attestationId } : {}),
  };
  await reportOutcome(deps, {
    caller: rpCaller(receipt.rp),
    receiptId: receipt.receiptId,
    subject: undefined,
    report: event,
    requestId: 'test',
  });
};

const step = fc
  .oneof({ weight: 4, arbitrary: fc.tuple(fc.nat(3), fc.nat(3), fc.nat(8), fc.integer({ min: 1, max: 4 })) })
  .map(
    ([rp, principal, kind, count]): Step =>
      () =>
        decide(rp, principal, kind, count),
  );
const reporting = fc.tuple(fc.nat(1_000), fc.nat(13), fc.boolean()).map(
  ([decision, type, corrects]): Step =>
    () =>
      report(decision, type, corrects),
);
const passing = fc
  .oneof({ weight: 6, arbitrary: fc.nat(40) }, { weight: 3, arbitrary: fc.integer({ min: 300, max: 900 }) })
  .map(
    (hours): Step =>
      () =>
        clock.pass(hours * HOUR_MS + 5_000),
  );
const sealing = fc.constant<Step>(async () => void (await stores.second.usage.seal(clock.nowMs())));
const counting = fc.integer({ min: 1, max: 40 }).map(
  (limit): Step =>
    async () => {
      await stores.second.usage.countSealed(limit);
    },
);
const steps = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: step },
    { weight: 4, arbitrary: reporting },
    { weight: 3, arbitrary: passing },
    { weight: 2, arbitrary: sealing },
    { weight: 3, arbitrary: counting },
  ),
  { minLength: 10, maxLength: 25 },
);

interface RawReceipt {
  readonly receiptId: ReceiptId;
  readonly rp: DidWeb;
  readonly principal: DidWeb | null;
  readonly keyId: ApiKeyId | null;
  readonly decision: string;
  readonly reason: string | null;
  readonly atMs: number;
}
interface RawAttestation {
  readonly attestationId: string;
  readonly receiptId: ReceiptId;
  readonly type: string;
  readonly correctionOf: string | null;
  readonly loss: number | null;
  readonly currency: string | null;
}

const rawRows = async () => ({
  receipts: await runSql<RawReceipt>(
    database.url,
    `select receipt_id as "receiptId", relying_party as rp, principal, key_id as "keyId", decision, reason,
       svc_ms(evaluated_at)::float8 as "atMs" from receipts order by receipt_id desc`,
  ),
  attestations: await runSql<RawAttestation>(
    database.url,
    `select attestation_id as "attestationId", receipt_id as "receiptId", type, correction_of as "correctionOf",
       loss_amount::float8 as loss, currency from attestations order by receipt_id, ordinal`,
  ),
});
type Raw = Awaited<ReturnType<typeof rawRows>>;

const rpCaller = (rp: DidWeb): Caller => {
  const { world } = worlds.find((one) => one.world.relyingParty.did === rp) ?? pick(worlds, 0);
  const { keyHash, keyId, relyingParty } = world;
  const key = {
    keyHash,
    keyId,
    role: 'rp',
    subject: rp,
    label: null,
    createdAtMs: 0,
    revokedAtMs: null,
  } as const;
  return {
    class: 'rp',
    subject: rp,
    keyId,
    key,
    relyingParty,
    entitlement: null,
    isNewcomer: false,
    isPaused: false,
  };
};
/** A caller with a valid key; its owner does not matter. */
const callerOf = (kind: Exclude<Caller['class'], 'rp'>, subject: string | null): Caller => {
  const { keyHash } = pick(worlds, 0).world;
  return { class: kind, subject, role: 'read', key: { keyHash } } as unknown as Caller;
};

/** The view of a caller: which decisions it sees, and its filter. */
interface View {
  readonly caller: Caller;
  readonly isVisible: (one: RawReceipt) => boolean;
  readonly seesLists: boolean;
}

const views = (): View[] => {
  const rps = (orgId: OrgId) =>
    worlds
      .filter(({ world }) => world.relyingParty.orgId === orgId)
      .map(({ world }) => world.relyingParty.did);
  return [
    { caller: callerOf('admin', null), isVisible: () => true, seesLists: true },
    { caller: callerOf('observer', null), isVisible: () => true, seesLists: false },
    ...[org, selfTest].map((orgId) => ({
      caller: callerOf('org', orgId),
      isVisible: ({ rp }: RawReceipt) => rps(orgId).includes(rp),
      seesLists: true,
    })),
    ...worlds.map(({ world }) => ({
      caller: rpCaller(world.relyingParty.did),
      isVisible: ({ rp }: RawReceipt) => rp === world.relyingParty.did,
      seesLists: true,
    })),
  ];
};

interface Asked {
  readonly since?: number;
  readonly until?: number;
  readonly principal?: DidWeb;
  readonly key_id?: ApiKeyId;
}

const isAsked =
  ({ since = 0, until = Number.POSITIVE_INFINITY, principal, key_id }: Asked) =>
  (one: RawReceipt) =>
    one.atMs >= since &&
    one.atMs < until &&
    (principal === undefined || one.principal === principal) &&
    (key_id === undefined || one.keyId === key_id);

const countsOf = (some: readonly RawReceipt[]): Counts => {
  const allow = some.filter(({ decision }) => decision === 'ALLOW').length;
  return { verifies: some.length, allow, deny: some.length - allow };
};
const sumBy = <T>(
  some: readonly T[],
  nameOf: (one: T) => string | null,
  of: (one: T) => number = () => 1,
) => {
  const sums: Record<string, number> = {};
  for (const one of some) {
    const name = nameOf(one);
    if (name !== null) sums[name] = (sums[name] ?? 0) + of(one);
  }
  return sums;
};
const startOfDay = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS;
const distinct = <T>(items: readonly T[]) => [...new Set(items)];

const expectUsage = async (caller: Caller, some: readonly RawReceipt[], asked: Asked) => {
  const range = { since: asked.since, until: asked.until };
  for (const by of [undefined, 'key'] as const) {
    const usage = await getUsage(deps, caller, { ...asked, ...range, by });
    const answered = usage.days
      .filter(({ verifies }) => verifies > 0)
      .map(({ day, verifies, allow, deny, reasons, keys }) => ({
        ...{ day, verifies, allow, deny, reasons: Object.fromEntries(reasons) },
        keys: keys && Object.fromEntries([...keys].map(([id, of]) => [`${id}`, of.verifies])),
      }));
    const recounted = distinct(some.map(({ atMs }) => dayOf(atMs)))
      .sort()
      .map((day) => {
        const ofDay = some.filter(({ atMs }) => dayOf(atMs) === day);
        return {
          ...{ day, ...countsOf(ofDay), reasons: sumBy(ofDay, ({ reason }) => reason) },
          keys: by && sumBy(ofDay, ({ keyId }) => `${keyId}`),
        };
      });
    expect(answered).toEqual(recounted);
    expect(usage.totals).toEqual(countsOf(some));
  }
};

const statsOf = (some: readonly RawReceipt[], { attestations }: Raw) => {
  const inForce = attestations.filter(
    (one) => !attestations.some(({ correctionOf }) => correctionOf === one.attestationId),
  );
  return distinct(some.map(({ principal }) => principal)).map((principal) => {
    const of = some.filter((one) => one.principal === principal);
    const ids = new Set(of.map(({ receiptId }) => receiptId));
    const reported = inForce.filter(({ receiptId }) => ids.has(receiptId));
    const withOutcome = of.filter(
      ({ receiptId, decision }) =>
        decision === 'ALLOW' && attestations.some((one) => one.receiptId === receiptId),
    );
    return {
      ...{ principal, ...countsOf(of), reasons: sumBy(of, ({ reason }) => reason) },
      outcomes: sumBy(reported, ({ type }) => type),
      losses: sumBy(
        reported,
        ({ currency }) => currency,
        ({ loss }) => loss ?? 0,
      ),
      allowWithOutcome: withOutcome.length,
    };
  });
};

const expectStats = async (caller: Caller, some: readonly RawReceipt[], asked: Asked, raw: Raw) => {
  const { since, until, principal } = asked;
  const stats = await getDecisionStats(deps, caller, { since, until, principal });
  const answered = stats.principals.map((one) => ({
    ...{ principal: one.principal, verifies: one.verifies, allow: one.allow, deny: one.deny },
    reasons: Object.fromEntries(one.reasons),
    outcomes: Object.fromEntries(one.outcomes),
    losses: Object.fromEntries(one.losses),
    allowWithOutcome: one.allowWithOutcome,
  }));
  const recounted = statsOf(some, raw);
  const byPrincipal = (a: { principal: string | null }, b: { principal: string | null }) =>
    `${a.principal}` < `${b.principal}` ? -1 : 1;
  expect(answered.sort(byPrincipal)).toEqual(recounted.sort(byPrincipal));
  const allowWithOutcome = recounted.reduce((sum, one) => sum + one.allowWithOutcome, 0);
  expect(stats.totals).toEqual({ ...countsOf(some), allowWithOutcome });
};

/** Compares every page of the list, and of the export with its outcomes. */
const expectLists = async (caller: Caller, some: readonly RawReceipt[], asked: Asked, raw: Raw) => {
  const [listed, exported]: [ReceiptId[], ReceiptId[]] = [[], []];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await listDecisions(deps, caller, { ...asked, limit: 17, cursor });
    listed.push(...items.map(({ receiptId }) => receiptId));
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  do {
    const page = await exportDecisions(deps, caller, { ...asked, limit: 50, cursor }, 'jws');
    for await (const rows of page.batches)
      for (const { decision, outcomes } of rows) {
        const { receiptId } = decision;
        exported.push(receiptId);
        const ofReceipt = raw.attestations.filter((one) => one.receiptId === receiptId);
        expect(outcomes.map(({ attestationId }) => attestationId)).toEqual(
          ofReceipt.map(({ attestationId }) => attestationId),
        );
      }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  const ids = some.map(({ receiptId }) => receiptId);
  expect({ listed, exported }).toEqual({ listed: ids, exported: ids });
};

const expectMetrics = async ({ receipts }: Raw) => {
  const isCustomer = ({ rp }: RawReceipt) =>
    !worlds.some(({ world }) => world.relyingParty.did === rp && world.relyingParty.orgId === selfTest);
  const some = receipts.filter(isCustomer);
  const metrics = await metricsSource(deps, 0)(366);
  expect(metrics.receiptsTotal).toBe(some.length);
  const { sinceMs, untilMs, perDay } = metrics.verifies;
  const inWindow = some.filter(isAsked({ since: sinceMs, until: untilMs }));
  expect(metrics.verifies).toMatchObject(countsOf(inWindow));
  for (const { day, ...counts } of perDay)
    expect(counts).toEqual(countsOf(inWindow.filter(({ atMs }) => dayOf(atMs) === day)));
};

it('list, export, usage, statistics and metrics equal a recount of the rows', async () => {
  const began = clock.nowMs();
  const property = fc.asyncProperty(
    steps,
    fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { minLength: 2, maxLength: 2 }),
    fc.nat(3),
    async (work, spans, chosen) => {
      for (const [index, one] of work.entries()) await one(index);
      const raw = await rawRows();
      const now = clock.nowMs();
      const place = (thousandths: number) => Math.floor(began + (thousandths * (now - began)) / 1_000);
      const today = startOfDay(now);
      const whole = { since: today - 364 * DAY_MS, until: today + DAY_MS };
      const ranges = spans.flatMap(([a, b]) => {
        const [first, last] = [place(Math.min(a, b)), place(Math.max(a, b)) + 1];
        const since = Math.max(first, last - 365 * DAY_MS);
        const ofDays = {
          since: Math.max(startOfDay(began), startOfDay(last) - 365 * DAY_MS),
          until: startOfDay(last),
        };
        return ofDays.since < ofDays.until ? [{ since, until: last }, ofDays] : [{ since, until: last }];
      });
      const { world, keyIds } = pick(worlds, chosen);
      const narrowed = { principal: world.principal.did, key_id: pick(keyIds, chosen) };
      for (const { caller, isVisible, seesLists } of views())
        for (const asked of [whole, ...ranges, { ...whole, ...narrowed }]) {
          const some = raw.receipts.filter((one) => isVisible(one) && isAsked(asked)(one));
          if (!('key_id' in asked)) await expectStats(caller, some, asked, raw);
          // An org may name only its own Principals, and then sees what the Principal sees.
          if (caller.class !== 'org' || !('principal' in asked)) await expectUsage(caller, some, asked);
          if (seesLists) await expectLists(caller, some, asked, raw);
        }
      for (const issuer of worlds) {
        const mine = ({ principal }: RawReceipt) => principal === issuer.world.principal.did;
        const caller = callerOf('principal', issuer.world.principal.did);
        for (const asked of [whole, ...ranges])
          await expectUsage(
            caller,
            raw.receipts.filter((one) => mine(one) && isAsked(asked)(one)),
            asked,
          );
      }
      await expectMetrics(raw);
    },
  );
  await fc.assert(property, { numRuns: sampled({ quick: 1, deep: 6 }), endOnFailure: true });
}, 120_000);
