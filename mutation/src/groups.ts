/** What is mutated, and the suites that must notice: the quickest first, since a mutant is dead at the first failure. */
export interface Group {
  readonly mutate: readonly string[];
  readonly suites: readonly string[];
}

export const GROUPS: Readonly<Record<string, Group>> = {
  checks: {
    mutate: ['packages/protocol/src/checks/*.ts', 'packages/protocol/src/evaluate.ts'],
    suites: [
      'mutation/suites/vectors.test.ts',
      'packages/protocol/src/checks/table.test.ts',
      'packages/protocol/src/checks/bindings.test.ts',
      'packages/protocol/src/evaluate.test.ts',
      'packages/protocol/src/evaluate-budgets.test.ts',
      'packages/protocol/src/evaluate-json.test.ts',
    ],
  },
  receipts: {
    mutate: ['packages/receipts/src/verify/*.ts'],
    suites: [
      'packages/receipts/src/verify/verify-receipt.test.ts',
      'packages/receipts/src/verify/published.test.ts',
      'packages/receipts/src/sign-receipt.test.ts',
      'packages/receipts/src/verify/laws.test.ts',
      'packages/receipts/src/audit/audit.test.ts',
    ],
  },
  merkle: {
    mutate: ['packages/merkle/src/*.ts'],
    suites: [
      'packages/merkle/test/vectors.test.ts',
      'packages/merkle/src/tiles.test.ts',
      'packages/merkle/src/inclusion.test.ts',
    ],
  },
  codec: {
    mutate: ['packages/codec/src/*.ts'],
    suites: ['packages/codec/src/*.test.ts'],
  },
};
