/** Audits of decisions on budgets (protocol §11), with pinned balances or with what the Receipt implies. */
import { type JsonObject, jcs, snapshotOf } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { budgeted, capabilityOf, logOf, pageOf, type Use } from '@svc/testkit/receipts/budgets';
import {
  API_CALL,
  buildWorld,
  PURCHASE,
  resign,
  type Setting,
  serviceDocument,
  type World,
} from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { type AuditInput, audit } from '../audit.ts';

const inputOf = (world: World, changes: Partial<AuditInput> = {}): AuditInput => ({
  receipt: world.signed.text,
  serviceDidDocument: serviceDocument,
  grant: world.grant,
  proof: world.proof,
  action: world.action,
  relyingParty: { proofWindowSeconds: 60 },
  evidence: world.evidence,
  crypto: nativeCrypto,
  ...changes,
});

const A = capabilityOf({ maxTotal: 200_000, maxPerPeriod: 90_000, period: 'day', maxUses: 9 }, ['order/**']);
const B = capabilityOf({ maxTotal: 300_000 });
const PLAIN = capabilityOf({});
const YESTERDAY_MS = 86_400_000;
const USES: readonly Use[] = [
  { capability: A, amount: 80_000, agoMs: YESTERDAY_MS },
  { capability: B, amount: 10_000, agoMs: 5_000, restored: true },
  { capability: A, amount: 40_000, agoMs: 4_000 },
];
const log = logOf(USES);
const world = await buildWorld(budgeted([A, B], USES));
const pinned = world.body.evidence.consumption;
const withoutSnapshot = new Map([...world.evidence].filter(([hash]) => hash !== pinned?.snapshot_hash));
const codesOf = (result: ReturnType<typeof audit>) => result.failures.map(({ code }) => code);
const assumedOf = (result: ReturnType<typeof audit>, path: string) =>
  result.assumed.flatMap((one) => (one.path === path ? [one.statement] : []));

describe('the audit of an ALLOW that consumed a budget', () => {
  const right = { ok: true, undecided: false, failures: [], differences: [] };

  it('uses the balances that the Receipt pins, given as a text', () => {
    expect(pinned?.version).toBe(4);
    const result = audit(inputOf(world));
    expect(result).toMatchObject(right);
    expect(assumedOf(result, '/evidence/consumption')).toHaveLength(1);
    expect(assumedOf(result, '/protocol/checks/P19')).toEqual([]);
  });

  it('uses the answer of the consumption endpoint if it is of the pinned version', () => {
    expect(audit(inputOf(world, { evidence: withoutSnapshot, consumption: [pageOf(log)] }))).toMatchObject(
      right,
    );
  });

  it('replays the log if there were movements since, from pages of any size and order', () => {
    const later = logOf([
      ...USES,
      { capability: A, amount: 50_000, agoMs: 0 },
      { capability: B, amount: 1, agoMs: 0 },
    ]);
    expect(later.balances.version).toBe(6);
    const pages = [pageOf(later, 5), pageOf(later, 2, 4), pageOf(later, 1, 1)];
    for (const consumption of [pages, [...pages].reverse(), [pageOf(later)]])
      expect(audit(inputOf(world, { evidence: withoutSnapshot, consumption }))).toMatchObject(right);
  });

  it('accepts the first consumption of a Grant, which needs no events of its log', async () => {
    const first = await buildWorld(budgeted([A]));
    expect(first.body.evidence.consumption?.version).toBe(0);
    const { evidence: all } = first;
    const evidence = new Map(
      [...all].filter(([hash]) => hash !== first.body.evidence.consumption?.snapshot_hash),
    );
    const page = pageOf(logOf([{ capability: A, amount: 42_700, agoMs: 0 }]));
    expect(page.events).toHaveLength(1);
    for (const consumption of [[page], [{ ...page, events: [] }], []])
      expect(audit(inputOf(first, { evidence, consumption }))).toMatchObject(right);
  });

  it('uses the balances that the auditor supplies', () => {
    const facts = { balances: { answer: 'found', value: log.balances } } as const;
    expect(audit(inputOf(world, { evidence: withoutSnapshot, facts }))).toMatchObject(right);
    const other = { balances: { answer: 'found', value: { ...log.balances, version: 5 } } } as const;
    expect(audit(inputOf(world, { facts: other })).differences.map(({ path }) => path)).toEqual([
      '/evidence/consumption/snapshot_hash',
      '/evidence/consumption/version',
    ]);
  });

  const altered = (change: (event: JsonObject) => JsonObject): JsonObject => {
    const page = pageOf(logOf([...USES, { capability: B, amount: 1, agoMs: 0 }]));
    return { ...page, events: (page.events as readonly JsonObject[]).map(change) };
  };
  it.each<[string, readonly unknown[], string]>([
    ['nothing', [], 'are missing; GET /grants/{id}/consumption'],
    ['pages that are not objects', [7, null, 'x'], 'are missing'],
    [
      'the log of another Grant',
      [{ ...pageOf(log), grant_id: `urn:svc:grant:${'0'.repeat(26)}` }],
      'are missing',
    ],
    ['a log with a gap', [{ ...pageOf(log, 2), version: 5 }], 'are missing'],
    ['a log without its events', [{ ...pageOf(log), version: 5, events: 'x' }], 'are missing'],
    ['a log without limits', [{ ...pageOf(log), version: 5, capabilities: [] }], 'are missing'],
    ['a log with malformed times', [altered((event) => ({ ...event, recorded_at: 'now' }))], 'are missing'],
    ['a log that falls below 0', [altered((event) => ({ ...event, delta_uses: -1 }))], 'are missing'],
    ['a log of other amounts', [altered((event) => ({ ...event, delta_total: 0 }))], 'were given as others'],
    ['other balances', [{ ...pageOf(logOf([])), version: 4 }], 'were given as others'],
  ])('is undecided if it is given %s', (_, consumption, problem) => {
    const result = audit(inputOf(world, { evidence: withoutSnapshot, consumption }));
    expect(result).toMatchObject({ ok: false, undecided: true, differences: [] });
    expect(codesOf(result)).toEqual(['missing-evidence']);
    expect(result.failures[0]?.message).toContain(problem);
  });

  it.each<[string, string]>([
    ['a text that is not JSON', '{'],
    ['JSON that is not balances', '{}'],
    [
      'balances of another version',
      jcs({ ...snapshotOf(log.balances), version: 9 } as unknown as JsonObject),
    ],
    [
      'balances of another Grant',
      jcs({
        ...snapshotOf(log.balances),
        grant_id: `urn:svc:grant:${'0'.repeat(26)}`,
      } as unknown as JsonObject),
    ],
  ])('refuses a Receipt that pins %s', async (_, text) => {
    const hash = `sha256:${nativeCrypto.sha256Hex(text)}`;
    const receipt = await resign(
      world.body,
      (d) => (d.evidence.consumption = { ...pinned, snapshot_hash: hash }),
    );
    const result = audit(inputOf(world, { receipt, evidence: new Map([...world.evidence, [hash, text]]) }));
    expect(result).toMatchObject({ ok: false, undecided: false });
    expect(codesOf(result)).toEqual(['wrong-balances']);
  });

  it('is undecided if the text of the balances does not have the pinned hash', () => {
    const others = jcs(snapshotOf(logOf([]).balances) as unknown as JsonObject);
    const evidence = (hash: string) => (hash === pinned?.snapshot_hash ? others : world.evidence.get(hash));
    const result = audit(inputOf(world, { evidence }));
    expect(result).toMatchObject({ ok: false, undecided: true, differences: [] });
    expect(codesOf(result)).toEqual(['missing-evidence']);
  });

  it('reports a difference if the pinned balances did not suffice', async () => {
    const { balances } = logOf([
      { capability: A, amount: 90_000, agoMs: 1 },
      { capability: B, amount: 300_000, agoMs: 1 },
    ]);
    const spent = { ...balances, version: 4 };
    const text = jcs(snapshotOf({ ...spent, capabilities: balances.capabilities }) as unknown as JsonObject);
    const hash = `sha256:${nativeCrypto.sha256Hex(text)}`;
    const receipt = await resign(
      world.body,
      (d) => (d.evidence.consumption = { ...pinned, snapshot_hash: hash }),
    );
    const result = audit(inputOf(world, { receipt, evidence: new Map([...world.evidence, [hash, text]]) }));
    expect(result.differences).toContainEqual({ path: '/protocol/checks/P19', expected: false, got: true });
  });
});

describe('the audit of a decision that pins no balances', () => {
  const used = (capability: JsonObject, amount: number): Use => ({ capability, amount, agoMs: 1_000 });
  const elsewhere = capabilityOf({ maxTotal: 400_000 }, ['cart/**']);
  const call = (maxUses: number): JsonObject => ({
    action: 'api:call',
    constraints: { methods: ['GET'], maxUses },
  });

  it.each<[string, Partial<Setting>, string, string]>([
    [
      'a DENY for the budget',
      budgeted([B], [used(B, 270_000)]),
      'AMOUNT_EXCEEDS_AUTHORITY',
      'too little was left of one budget',
    ],
    [
      'a DENY for two budgets',
      budgeted([A, B], [used(A, 80_000), used(B, 270_000)]),
      'AMOUNT_EXCEEDS_AUTHORITY',
      'too little was left of 2 budgets',
    ],
    [
      'a DENY for uses',
      { ...budgeted([call(1)], [used(call(1), 0)]), action: API_CALL },
      'AMOUNT_EXCEEDS_AUTHORITY',
      'too little was left of one budget',
    ],
    [
      'a DENY for the resource, where the budget for it is used up',
      budgeted([elsewhere, B], [used(B, 300_000)]),
      'RESOURCE_NOT_AUTHORIZED',
      'too little was left of one budget',
    ],
    [
      'a DENY for the resource alone',
      budgeted([elsewhere]),
      'RESOURCE_NOT_AUTHORIZED',
      'enough was left of the budgets',
    ],
    [
      'a DENY where balances were unavailable',
      { ...budgeted([B]), facts: { balances: 'unavailable' } },
      'SERVICE_UNAVAILABLE',
      'what had been consumed of the budgets was unavailable, or not asked for since another check denied',
    ],
    [
      'a DENY for a Proof that was spent',
      { ...budgeted([B]), facts: { ...budgeted([B]).facts, spent: { found: true } } },
      'PROOF_REPLAYED',
      'enough was left of the budgets',
    ],
    [
      'an ALLOW beside a budget that is used up',
      budgeted([B, PLAIN], [used(B, 300_000)]),
      'null',
      'too little was left of one budget',
    ],
  ])('accepts %s, and states what it assumed about the budgets', async (_, setting, reason, statement) => {
    const decided = await buildWorld(setting);
    expect(String(decided.body.reason)).toBe(reason);
    const result = audit(inputOf(decided));
    expect(result).toMatchObject({ ok: true, undecided: false, failures: [], differences: [] });
    expect(assumedOf(result, '/protocol/checks/P19')).toEqual([statement]);
  });

  it.each<[string, JsonObject, Partial<Setting>]>([
    ['an expired Grant', { P5: false }, { grant: { validUntil: '2026-11-20T07:00:00Z' } }],
    ['a Proof for another relying party', { P12: false }, { proof: { aud: 'did:web:other.example' } }],
    ['a revoked Grant', { P6: false }, { revoked: true }],
  ])(
    'accepts a DENY for %s, which needs no balances, whether the auditor supplies them or not',
    async (_, checks, setting) => {
      // The service requests balances only if every other check is true.
      const denied = await buildWorld({ ...budgeted([B]), ...setting, facts: { balances: 'unavailable' } });
      expect(denied.body.decision).toBe('DENY');
      expect(denied.body.protocol.checks).toMatchObject({ ...checks, P18: true, P19: 'skipped' });
      const known = { balances: { answer: 'found', value: logOf([used(B, 270_000)]).balances } } as const;
      for (const facts of [{}, known]) {
        const result = audit(inputOf(denied, { facts }));
        expect(result).toMatchObject({ ok: true, undecided: false, failures: [], differences: [] });
        expect(assumedOf(result, '/protocol/checks/P19')).toEqual([
          'what had been consumed of the budgets was unavailable, or not asked for since another check denied',
        ]);
      }
    },
  );

  it('assumes nothing about budgets if the Grant has none', async () => {
    const plain = await buildWorld(budgeted([PLAIN]));
    expect(plain.body.evidence.consumption).toBeUndefined();
    expect(assumedOf(audit(inputOf(plain)), '/protocol/checks/P19')).toEqual([]);
  });

  /** A Receipt that is signed and consistent, but that the engine does not give for any balances. */
  const refused = async (from: World) => {
    const denied = await buildWorld({ ...budgeted([B], [used(B, 300_000)]) });
    return resign(from.body, (d) => {
      const { decision, reason, authority, protocol, trust } = denied.body;
      Object.assign(d, { decision, reason, authority });
      Object.assign(d.protocol, { result: protocol.result, checks: protocol.checks });
      Object.assign(d.trust, trust);
      delete d.evidence.consumption;
    });
  };

  it.each<[string, Partial<Setting>]>([
    ['a Grant without a budget', budgeted([PLAIN])],
    ['a budget beside a Capability without one', budgeted([B, PLAIN])],
    [
      'an amount of 0, of which there is always enough',
      { ...budgeted([B]), action: { ...PURCHASE, amount: 0 } },
    ],
  ])(
    'reports a difference for a DENY for the budget that no consumption explains: %s',
    async (_, setting) => {
      const from = await buildWorld(setting);
      const result = audit(inputOf(from, { receipt: await refused(from) }));
      expect(result).toMatchObject({ ok: false, undecided: false });
      expect(result.differences).toContainEqual({ path: '/protocol/checks/P19', expected: true, got: false });
    },
  );
});
