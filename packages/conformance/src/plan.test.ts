import { PROFILE_IDS } from '@svc/protocol';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readVectorSet } from './node.ts';
import { planBatches } from './plan.ts';
import type { ConformanceCase, VectorSet } from './vector-set.ts';
import {
  CASE_OPS,
  casesRequest,
  type Description,
  MAX_CASES,
  MAX_REQUEST_BYTES,
  MIN_CASES,
  MIN_REQUEST_BYTES,
} from './wire.ts';

const published = readVectorSet();
const everything: Description = {
  implementation: { name: 'x', version: '1' },
  ops: CASE_OPS,
  profiles: PROFILE_IDS,
  receipts: true,
  maxRequestBytes: MAX_REQUEST_BYTES,
  maxCases: MAX_CASES,
};

const caseOf = (id: number, bytes: number): ConformanceCase => ({
  id: String(id),
  description: '',
  op: 'isJti',
  profile: null,
  input: 'x'.repeat(bytes),
  expected: true,
  receipt: null,
});
const setOf = (sizes: readonly number[]): VectorSet => ({
  ...published,
  cases: sizes.map((bytes, i) => caseOf(i, bytes)),
});
const bytesOf = ({ op, cases }: { op: (typeof CASE_OPS)[number]; cases: readonly ConformanceCase[] }) =>
  new TextEncoder().encode(
    casesRequest(
      op,
      cases.map(({ id, input }) => ({ id, input })),
    ),
  ).length;

describe('a plan', () => {
  it('contains every case exactly once, within every limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 400 }),
        fc.integer({ min: MIN_REQUEST_BYTES, max: 2 * MAX_REQUEST_BYTES }),
        fc.integer({ min: 20, max: 2000 }),
        (sizes, maxRequestBytes, maxCases) => {
          const set = setOf(sizes);
          const plan = planBatches(set, { ...everything, maxRequestBytes, maxCases }, 49);
          if (plan === null) return;
          expect(plan.batches.flatMap(({ cases }) => cases)).toEqual(set.cases);
          expect(plan.batches.length).toBeLessThanOrEqual(49);
          for (const batch of plan.batches) {
            expect(bytesOf(batch)).toBeLessThanOrEqual(Math.min(maxRequestBytes, MAX_REQUEST_BYTES));
            expect(batch.cases.length).toBeLessThanOrEqual(Math.min(maxCases, MAX_CASES));
          }
        },
      ),
      { numRuns: sampled({ quick: 16, deep: 50 }) },
    );
  });

  it('of the published vectors fits into 49 requests, even with the lowest limits that an endpoint may have', () => {
    const least = { ...everything, maxRequestBytes: MIN_REQUEST_BYTES, maxCases: MIN_CASES };
    for (const description of [everything, least])
      expect(planBatches(published, description, 49)?.batches.length).toBeLessThanOrEqual(49);
  });

  it('of fifteen times the published vectors still fits into 49 requests', () => {
    const many = { ...published, cases: Array.from({ length: 15 }, () => published.cases).flat() };
    expect(planBatches(many, everything, 49)?.batches.flatMap(({ cases }) => cases)).toHaveLength(
      many.cases.length,
    );
  });

  it('is null if the cases do not fit into the requests, or one case does not fit into a request', () => {
    expect(planBatches(setOf(Array(50).fill(MAX_REQUEST_BYTES - 1000)), everything, 49)).toBeNull();
    expect(planBatches(setOf([MAX_REQUEST_BYTES]), everything, 49)).toBeNull();
    expect(planBatches(setOf(Array(981).fill(1)), { ...everything, maxCases: 20 }, 49)).toBeNull();
  });

  it('leaves out the ops and profiles that the endpoint does not support', () => {
    const poor = { ...everything, ops: ['describe', 'evaluate'] as const, profiles: ['svc-base-v1'] };
    const plan = planBatches(published, poor, 49);
    const asked = plan?.batches.flatMap(({ cases }) => cases) ?? [];
    expect(asked.every(({ op, profile }) => op === 'evaluate' && profile === 'svc-base-v1')).toBe(true);
    expect(asked.length + (plan?.unsupported.length ?? 0)).toBe(published.cases.length);
    expect(asked.length).toBeGreaterThan(400);
  });
});
