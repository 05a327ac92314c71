/**
 * Verifications of every kind: each fact in any state, and a Grant, Proof and Action that may be wrong in many ways.
 */
import type { JsonObject } from '@svc/protocol';
import { arbitraryBudgets } from '@svc/testkit/receipts/budgets';
import {
  AGENT,
  API_CALL,
  buildWorld,
  PRINCIPAL,
  PURCHASE,
  type Setting,
  type World,
} from '@svc/testkit/receipts/world';
import fc from 'fast-check';

const sometimes = <T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(usual) }, ...others.map((other) => fc.constant(other)));

const principal = fc.record({
  found: fc.record({
    verification: sometimes('verified' as const, 'unverified'),
    key: sometimes<{ state: 'active' | 'retired' | 'compromised'; since: string } | null>(
      { state: 'active', since: '2026-01-01T00:00:00Z' },
      { state: 'retired', since: '2026-01-01T00:00:00Z' },
      { state: 'retired', since: '2026-11-20T07:00:00Z' },
      { state: 'compromised', since: '2026-01-01T00:00:00Z' },
      null,
    ),
  }),
});

const ALLOCATION = {
  issuer: PRINCIPAL,
  agent: AGENT,
  status_list_credential: 'https://status.svc.example/acme.example/1',
  status_list_index: '94567',
  allocated_at: '2026-11-19T08:00:00Z',
};

const facts = fc.record(
  {
    principal: fc.oneof(
      { weight: 8, arbitrary: principal },
      fc.constantFrom('absent' as const, 'unavailable' as const),
    ),
    document: fc.constantFrom('absent' as const, 'unavailable' as const),
    allocation: fc.constantFrom('absent' as const, 'unavailable' as const, {
      found: { ...ALLOCATION, status_list_index: '1' },
    }),
    status: fc.constantFrom('absent' as const, 'unavailable' as const),
    spent: fc.constantFrom('unavailable' as const, { found: true }),
  },
  { requiredKeys: ['principal'] },
);

/** Usually what the service really looked up, so that the later checks are reached. */
const mostlyFound = facts.chain((all) =>
  fc
    .record({
      document: sometimes(false, true),
      allocation: sometimes(false, true),
      status: sometimes(false, true),
      spent: sometimes(false, true),
    })
    .map((kept): Setting['facts'] =>
      Object.fromEntries(
        Object.entries(all).filter(([name]) => name === 'principal' || kept[name as keyof typeof kept]),
      ),
    ),
);

const grant = sometimes<JsonObject>(
  {},
  { audience: ['did:web:other.example'] },
  { validFrom: '2026-11-21T00:00:00Z' },
  { validFrom: '2026-11-19T00:00:00Z', validUntil: '2026-11-20T08:00:00Z' },
  { issuer: 'did:web:other.example' },
  { exp: 1 },
  { id: 'x' },
);

const proof = sometimes<JsonObject>(
  {},
  { aud: 'did:web:other.example' },
  { grant_id: 'urn:svc:grant:01M7SD3N3V0W3GE1R70W3GE1R8' },
  { iat: 1 },
  { htm: 'POST' },
  { jti: 'short' },
);

const action = sometimes<unknown>(
  PURCHASE,
  API_CALL,
  { ...PURCHASE, amount: 50_001 },
  { ...PURCHASE, currency: 'EUR' },
  { ...PURCHASE, resource: 'other/1' },
  { ...API_CALL, method: 'DELETE' },
  { type: 'other' },
);

const withoutBudgets = fc.record({
  facts: mostlyFound,
  grant,
  proof,
  action,
  revoked: sometimes(false, true),
});

/** The same with budgets; other faults are less frequent. */
const withBudgets = fc
  .record({ budgets: arbitraryBudgets, other: withoutBudgets, isOther: sometimes(false, true) })
  .map(({ budgets, other: { action: _, ...other }, isOther }): Partial<Setting> => {
    if (!isOther) return budgets;
    return { ...other, ...budgets, facts: { ...other.facts, ...budgets.facts } };
  });

export const arbitraryWorld: fc.Arbitrary<Promise<World>> = fc
  .oneof(withoutBudgets, withBudgets)
  .map((setting) => buildWorld(setting));
