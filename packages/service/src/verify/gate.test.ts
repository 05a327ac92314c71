import type { DidWeb, OrgId, Presented } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { EntitlementGate } from './gate.ts';

const SANDBOX = 'did:web:svc.example:org:sandbox' as DidWeb;
const ORG = 'org_01M7VZGC008Q2R7V9X1C4E6H8M' as OrgId;
const OTHER = 'org_01M7VZGC008Q2R7V9X1C4E6H8N' as OrgId;

const gateAt = (isEnforced: boolean, compOrgs: readonly OrgId[] = []) => {
  const time = { nowMs: 0 };
  const logged: unknown[] = [];
  const counted: string[] = [];
  const deps = {
    clock: { nowMs: () => time.nowMs },
    entitlements: { isEnforced, compOrgs: new Set(compOrgs) },
    identity: { sandboxPrincipal: SANDBOX },
    log: { warn: (event: string, fields: object) => logged.push({ event, ...fields }) },
  } as unknown as ServiceDeps;
  return { gate: new EntitlementGate(deps, (what) => counted.push(what)), time, logged, counted };
};

/** A caller without an entitlement. */
const caller = (orgId: OrgId | null, profile = 'svc-base-v1'): RpCaller =>
  ({ relyingParty: { orgId, profile, claimExpiresAtMs: null }, entitlement: null }) as unknown as RpCaller;
const of = (issuer: string): Presented =>
  ({ grant: { ok: true, value: { issuer } } }) as unknown as Presented;
const malformed = { grant: { ok: false } } as unknown as Presented;
const acme = of('did:web:acme.example');

it('guess returns null for an uncovered caller, and only entitle refuses it', () => {
  const { gate, counted } = gateAt(true);
  expect(gate.guess(caller(ORG), acme)).toBeNull();
  expect(counted).toEqual([]);
  expect(() => gate.entitle(caller(ORG), acme)).toThrow(/this org has no plan/);
  expect(counted).toEqual(['refused']);
});

it('relying parties outside every org need no plan; Grants that name the sandbox are counted and need none', () => {
  const { gate } = gateAt(true);
  expect(gate.guess(caller(null), acme)?.productionCheck).toBeNull();
  expect(gate.guess(caller(ORG), of(SANDBOX))).toMatchObject({
    productionCheck: { orgId: ORG, isEnforced: false },
    namesSandbox: true,
  });
  expect(gate.guess(caller(ORG), of(`${SANDBOX}2`))).toBeNull();
  expect(gate.guess(caller(ORG), malformed)).toBeNull();
});

it('guess returns null for a profile that this version does not know, and only entitle refuses it', () => {
  const { gate, counted } = gateAt(true);
  const later = caller(null, 'svc-base-v9');
  expect(gate.guess(later, acme)).toBeNull();
  expect(() => gate.entitle(later, acme)).toThrow(/does not know the profile/);
  expect(counted).toEqual([]);
});

it('checks of a comp org are counted, and nothing is enforced', () => {
  const { gate } = gateAt(true, [ORG]);
  expect(gate.guess(caller(ORG), acme)).toMatchObject({
    productionCheck: { orgId: ORG, entitlementVersion: 0, isCapped: false, isEnforced: false },
    uncovered: null,
  });
});

it('every stored check that no plan covers is counted, and one a minute is logged for each org', () => {
  const { gate, time, logged, counted } = gateAt(false);
  const store = (orgId: OrgId) => {
    const entitled = gate.guess(caller(orgId), acme);
    if (entitled === null) throw new Error('refused');
    gate.noteStored(entitled);
  };
  for (const nowMs of [0, 1, 59_999]) {
    time.nowMs = nowMs;
    store(ORG);
  }
  store(OTHER);
  time.nowMs = 60_000;
  store(ORG);
  const line = { event: 'entitlement.not_covered', uncovered: 'this org has no plan' };
  expect(logged).toEqual([
    { ...line, orgId: ORG, unmentioned: 0 },
    { ...line, orgId: OTHER, unmentioned: 0 },
    { ...line, orgId: ORG, unmentioned: 2 },
  ]);
  expect(counted).toEqual(Array(5).fill('logged'));
});
