/**
 * Decisions on budgets (protocol §11): what is known of them is looked up together for concurrent requests, and those on
 * one Grant go down one lane.
 */
import type { GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { Batcher } from '../lib/batcher.ts';
import type { BudgetFacts, BudgetQuery } from '../ports/consumption.ts';
import type { Attempt, Attempted } from './attempt.ts';
import { BudgetLane } from './budget-lane.ts';
import type { Committer } from './committer.ts';

export class Budgets {
  private readonly lanes = new Map<GrantId, BudgetLane>();
  private readonly lookups: Batcher<BudgetQuery, BudgetFacts>;

  constructor(
    private readonly deps: ServiceDeps,
    private readonly committer: Committer,
  ) {
    this.lookups = new Batcher((queries) => deps.store.verify.findBudgets(queries));
  }

  /** Evaluates and stores an attempt that rests on this Grant's balances. See `BudgetLane.submit`. */
  async attempt(attempt: Attempt, grantId: GrantId): Promise<Attempted> {
    const { proof } = attempt.presented;
    const jti = proof.ok ? proof.value.jti : null;
    const { balances, isSpent } = await this.lookups.submit({ grantId, jti });
    const lane = this.laneOf(grantId);
    try {
      return await lane.submit({ attempt, jti, balances, isSpent });
    } finally {
      if (lane.isEmpty && this.lanes.get(grantId) === lane) this.lanes.delete(grantId);
    }
  }

  private laneOf(grantId: GrantId): BudgetLane {
    const existing = this.lanes.get(grantId);
    if (existing !== undefined) return existing;
    const findBalances = async () => (await this.lookups.submit({ grantId, jti: null })).balances;
    const lane = new BudgetLane(grantId, { ...this.deps, committer: this.committer, findBalances });
    this.lanes.set(grantId, lane);
    return lane;
  }
}
