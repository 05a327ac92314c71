/**
 * What is mutated, and the suites that must detect the mutants. Quick suites come first, because a mutant is killed by
 * the first failure.
 */
export interface Area {
  readonly mutate: readonly string[];
  readonly suites: readonly string[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  merkle: {
    mutate: ['packages/merkle/src/*.ts'],
    suites: [
      'packages/merkle/test/vectors.test.ts',
      'packages/merkle/src/inclusion.test.ts',
      'packages/merkle/src/tiles.test.ts',
    ],
  },
  receipts: {
    mutate: ['packages/receipts/src/verify/**/*.ts'],
    // Without laws.test.ts: mutants that its random cases kill in one run may survive the next.
    suites: [
      'packages/receipts/src/verify/body-shape.test.ts',
      'packages/receipts/src/verify/receipt-jws.test.ts',
      'packages/receipts/src/verify/published.test.ts',
      'packages/receipts/src/verify/verify-receipt.test.ts',
      'packages/receipts/src/verify/verify-included.test.ts',
      'packages/receipts/src/verify/malformed-members.test.ts',
      'packages/receipts/src/sign-receipt.test.ts',
      'packages/receipts/src/verify/vectors.test.ts',
    ],
  },
  evaluate: {
    mutate: ['packages/protocol/src/evaluate.ts'],
    suites: [
      'mutation/suites/vectors.test.ts',
      'packages/protocol/src/evaluate.test.ts',
      'packages/protocol/src/evaluate-budgets.test.ts',
    ],
  },
  checks: {
    mutate: ['packages/protocol/src/checks/*.ts'],
    suites: [
      'mutation/suites/vectors.test.ts',
      'packages/protocol/src/checks/table.test.ts',
      'packages/protocol/src/checks/bindings.test.ts',
      'packages/protocol/src/checks/narrowing.test.ts',
      'packages/protocol/src/explain/explain.test.ts',
      'packages/protocol/src/evaluate.test.ts',
      'packages/protocol/src/evaluate-budgets.test.ts',
    ],
  },
  codec: {
    mutate: ['packages/codec/src/*.ts'],
    suites: ['packages/codec/src/*.test.ts'],
  },
};
