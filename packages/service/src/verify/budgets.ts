/**
 * Decisions on budgets (protocol §11). The decisions of concurrent requests are stored together in one transaction. It
 * takes the locks of their Grants, reads the balances, evaluates the decisions on each Grant as a chain, and commits
 * them all. Under the locks no other transaction changes the balances, so no request loses a race to another node and
 * must be evaluated again.
 *
 * A Grant that many requests draw on, or whose lock another node holds, gets a line: a queue whose transactions are for
 * this Grant alone. Only a few lines run at once. So decisions on other Grants wait neither for a busy budget nor for a
 * node that stopped while it held a lock.
 *
 * A link that is not stored breaks its chain: the links after it rest on balances that were never stored, so they are
 * evaluated again in the next round.
 */
import type { GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { Batcher } from '../lib/batcher.ts';
import { type Entrant, FairLimiter } from '../lib/fair-limiter.ts';
import { pathOf } from '../lib/round-robin-queue.ts';
import { tracedItem } from '../lib/tracing.ts';
import type { BudgetFacts } from '../ports/consumption.ts';
import {
  buildChain,
  type Chain,
  type Contender,
  concludeChain,
  refuseLate,
  type Settled,
} from './budget-chain.ts';
import type { Committer } from './commit.ts';
import { type Grounds, VERIFY_DEADLINE_MS } from './evaluate.ts';

/**
 * A chain can break once at the checks that the commit makes first, and once at the Proofs and keys that it claims
 * then.
 */
const MAX_ROUNDS = 3;

/** Milliseconds that a transaction for many Grants waits for all their locks together. */
const SHARED_WAIT_MS = 50;
/** Milliseconds that a transaction for a single Grant waits for its lock before the next line has its turn. */
const LINE_WAIT_MS = 200;
/** Number of concurrent requests from which a Grant has a line. */
const CROWD = 8;
const LINES_AT_ONCE = 2;
/** Limit of the lines that wait for their turn, and of the requests that wait in one line. */
const MAX_WAITING = 4_096;

/** `CONTENDED`: the lock of the Grant was not obtained in time; nothing was evaluated. */
type Result = Settled | Error | 'CONTENDED';
type Deps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'>;

/** The requests under way for one Grant, and its line. */
interface Interest {
  underWay: number;
  line: Batcher<Contender, Result> | null;
}

export class Budgets {
  private readonly shared = new Batcher<Contender, Result>((batch) => this.run(batch, SHARED_WAIT_MS));
  private readonly interests = new Map<GrantId, Interest>();
  private readonly turns = new FairLimiter({
    atOnce: LINES_AT_ONCE,
    atOncePerOrg: LINES_AT_ONCE,
    maxWaiting: MAX_WAITING,
    // By then the caller has received 503.
    waitMs: VERIFY_DEADLINE_MS,
    refuse: (why) => serviceUnavailable(`budgets: too many Grants are waited for: ${why}`),
  });

  constructor(
    private readonly deps: Deps,
    private readonly committer: Pick<Committer, 'commitOnBudgets'>,
  ) {}

  /** Evaluates and stores a decision on the balances of this Grant. Rejects when no commit was sent. */
  async decide(grounds: Grounds, grantId: GrantId): Promise<Settled> {
    const { proof } = grounds.call.presented;
    const jti = proof.ok ? proof.value.jti : null;
    const interest = this.interests.get(grantId) ?? { underWay: 0, line: null };
    this.interests.set(grantId, interest);
    interest.underWay++;
    try {
      const contender = { grounds, grantId, jti };
      return await tracedItem('commit', contender, () => this.settleOn(interest, contender));
    } finally {
      interest.underWay--;
      if (interest.underWay === 0) this.interests.delete(grantId);
    }
  }

  private async settleOn(interest: Interest, contender: Contender): Promise<Settled> {
    const { tenant } = contender.grounds.call;
    const isAlone = interest.line === null && interest.underWay < CROWD;
    let result = isAlone ? await this.shared.submit(contender, tenant) : 'CONTENDED';
    while (result === 'CONTENDED') {
      refuseLate(contender);
      interest.line ??= this.openLine();
      result = await interest.line.submit(contender, tenant);
    }
    if (result instanceof Error) throw result;
    return result;
  }

  private openLine(): Batcher<Contender, Result> {
    const inTurn = (batch: readonly Contender[]) =>
      this.turns.runForAny(tenantsOf(batch), () => this.run(batch, LINE_WAIT_MS));
    return new Batcher(inTurn, { maxBatch: 64, maxInFlight: 1, maxWaiting: MAX_WAITING });
  }

  private async run(batch: readonly Contender[], waitMs: number): Promise<readonly Result[]> {
    const results = new Map<Contender, Result>();
    let waiting = batch;
    for (let round = 1; waiting.length > 0 && round <= MAX_ROUNDS; round++) {
      for (const [contender, result] of await this.settle(waiting, waitMs)) results.set(contender, result);
      waiting = waiting.filter((contender) => isOvertaken(results.get(contender)));
    }
    return batch.map((contender) => results.get(contender) ?? new Error('a chain lost a contender'));
  }

  /** Does one round. Where it fails, only the contenders of this round get the error. */
  private async settle(
    contenders: readonly Contender[],
    waitMs: number,
  ): Promise<readonly (readonly [Contender, Result])[]> {
    try {
      let chains: readonly Chain[] = [];
      let missed: readonly Contender[] = [];
      const outcomes = await this.committer.commitOnBudgets(contenders, waitMs, async (facts) => {
        missed = contenders.filter((_, i) => facts[i] == null);
        chains = await Promise.all(byGrant(contenders, facts).map((ready) => buildChain(this.deps, ready)));
        return chains.flatMap(({ links }) => links.map(({ commit }) => commit));
      });
      // The database may refuse because of one decision. Nothing is stored then, so halves are tried until it is alone.
      if (contenders.length > 1 && outcomes.length > 0 && outcomes.every((one) => one === 'REFUSED')) {
        const middle = contenders.length >> 1;
        const left = await this.settle(contenders.slice(0, middle), waitMs);
        return [...left, ...(await this.settle(contenders.slice(middle), waitMs))];
      }
      let end = 0;
      const concluded = chains.flatMap((chain) => {
        end += chain.links.length;
        return concludeChain(chain, outcomes.slice(end - chain.links.length, end));
      });
      return [...concluded, ...missed.map((contender) => [contender, 'CONTENDED'] as const)];
    } catch (error) {
      const cause = error instanceof Error ? error : new Error(String(error));
      return contenders.map((contender) => [contender, cause]);
    }
  }
}

/** One queue entry per tenant. The batch runs in the first turn that any of these tenants gets. */
const tenantsOf = (batch: readonly Contender[]): readonly Entrant[] => {
  const tenants = batch.map(({ grounds }) => grounds.call.tenant);
  return [...new Map(tenants.map((tenant) => [pathOf(tenant).join(' '), { tenant }])).values()];
};

/** The contenders of each Grant in order of arrival, with their facts. A contender without facts is left out. */
const byGrant = (
  contenders: readonly Contender[],
  facts: readonly (BudgetFacts | null)[],
): (readonly [Contender, BudgetFacts])[][] => {
  const groups = new Map<GrantId, (readonly [Contender, BudgetFacts])[]>();
  for (const [i, contender] of contenders.entries()) {
    const read = facts[i];
    if (read == null) continue;
    const group = groups.get(contender.grantId) ?? [];
    groups.set(contender.grantId, group);
    group.push([contender, read]);
  }
  return [...groups.values()];
};

const isOvertaken = (result: Result | undefined): boolean =>
  typeof result === 'object' && !(result instanceof Error) && result.outcome === 'OVERTAKEN';
