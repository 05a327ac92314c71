/**
 * Decisions on budgets (protocol §11). Those of concurrent requests are stored together, in one transaction that takes the
 * locks of their Grants, reads the balances, has the decisions on each Grant evaluated as a chain, and commits them all.
 * Under the locks nobody else moves the balances, so no request is evaluated again for having lost a race to another node.
 *
 * A link that is not stored breaks its chain: those behind it rest on balances that never came to be, and are evaluated
 * again in the next round.
 */
import type { GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { Batcher } from '../lib/batcher.ts';
import type { BudgetFacts } from '../ports/consumption.ts';
import { buildChain, type Chain, type Contender, concludeChain, type Settled } from './budget-chain.ts';
import type { Committer } from './commit.ts';
import type { Grounds } from './evaluate.ts';

/** A chain can break once at what the commit judges first, and once at what it claims then. */
const MAX_ROUNDS = 3;

type Result = Settled | Error;
type Deps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'>;

export class Budgets {
  private readonly batcher = new Batcher<Contender, Result>((batch) => this.run(batch));

  constructor(
    private readonly deps: Deps,
    private readonly committer: Pick<Committer, 'commitOnBudgets'>,
  ) {}

  /** Evaluates and stores a decision on the balances of this Grant. Rejects when it was not sent. */
  async decide(grounds: Grounds, grantId: GrantId): Promise<Settled> {
    const { proof } = grounds.asked.presented;
    const jti = proof.ok ? proof.value.jti : null;
    const result = await this.batcher.submit({ grounds, grantId, jti });
    if (result instanceof Error) throw result;
    return result;
  }

  private async run(batch: readonly Contender[]): Promise<readonly Result[]> {
    const results = new Map<Contender, Result>();
    let waiting = batch;
    for (let round = 1; waiting.length > 0 && round <= MAX_ROUNDS; round++) {
      for (const [contender, result] of await this.settle(waiting)) results.set(contender, result);
      waiting = waiting.filter((contender) => isOvertaken(results.get(contender)));
    }
    return batch.map((contender) => results.get(contender) ?? new Error('a chain lost a contender'));
  }

  /** What fails here concerns only those that were still waiting. */
  private async settle(contenders: readonly Contender[]): Promise<readonly (readonly [Contender, Result])[]> {
    try {
      let chains: readonly Chain[] = [];
      const outcomes = await this.committer.commitOnBudgets(contenders, async (facts) => {
        chains = await Promise.all(byGrant(contenders, facts).map((ready) => buildChain(this.deps, ready)));
        return chains.flatMap(({ links }) => links.map(({ commit }) => commit));
      });
      // One of them may be what the database refuses: nothing is stored, and halves are tried until that one is alone.
      if (contenders.length > 1 && outcomes.length > 0 && outcomes.every((one) => one === 'REFUSED')) {
        const middle = contenders.length >> 1;
        const left = await this.settle(contenders.slice(0, middle));
        return [...left, ...(await this.settle(contenders.slice(middle)))];
      }
      let end = 0;
      return chains.flatMap((chain) => {
        end += chain.links.length;
        return concludeChain(chain, outcomes.slice(end - chain.links.length, end));
      });
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      return contenders.map((contender) => [contender, cause]);
    }
  }
}

/** Each Grant's contenders in the order of their coming, with what was read for them. */
const byGrant = (
  contenders: readonly Contender[],
  facts: readonly BudgetFacts[],
): (readonly [Contender, BudgetFacts])[][] => {
  const groups = new Map<GrantId, (readonly [Contender, BudgetFacts])[]>();
  for (const [i, contender] of contenders.entries()) {
    const read = facts[i];
    if (read === undefined) throw new Error('no balances to decide on');
    const group = groups.get(contender.grantId) ?? [];
    groups.set(contender.grantId, group);
    group.push([contender, read]);
  }
  return [...groups.values()];
};

const isOvertaken = (result: Result | undefined): boolean =>
  result !== undefined && !(result instanceof Error) && result.outcome === 'OVERTAKEN';
