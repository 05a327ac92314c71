/**
 * Decisions on the budgets of one Grant, on this node (protocol §11): one batch of them after another, each a chain. While
 * a batch is under way the next one gathers.
 *
 * A batch is evaluated on the newest balances that are known here and committed like any other; it fails where another
 * node has moved them. From then on the lane takes its turn: it waits for the Grant's lock, and reads, evaluates and
 * commits under it. So nobody is refused for having lost a race.
 */
import type { Balances, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import type { Attempted } from './attempt.ts';
import { balancesAfter, buildChain, type Chain, type Contender, concludeChain } from './budget-chain.ts';
import { type Committer, MAX_BATCH, type StoredOutcome } from './committer.ts';
import { Gatherer } from './gatherer.ts';

/** With the balances as they were when it came. */
export interface LaneContender extends Contender {
  readonly balances: Balances;
}

export type LaneDeps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'> & {
  readonly committer: Committer;
};

interface Committed {
  readonly chain: Chain<LaneContender>;
  readonly outcomes: readonly StoredOutcome[];
}

const GATHERING = { maxBatch: MAX_BATCH, maxInFlight: 1, maxWaiting: 4096 } as const;
/** Whoever fails for himself takes those behind him along: once by what is judged first, and once by what is claimed then. */
const MAX_ROUNDS = 4;

export class BudgetLane {
  private readonly gatherer = new Gatherer<LaneContender, Attempted | Error>(
    (batch) => this.run(batch),
    GATHERING,
  );
  private newest: Balances | null = null;
  private isContested = false;
  private members = 0;

  constructor(
    private readonly grantId: GrantId,
    private readonly deps: LaneDeps,
  ) {}

  get isEmpty(): boolean {
    return this.members === 0;
  }

  /** Resolves as `Committer.submit` does, `OVERTAKEN` when it was so too often; rejects when it was not sent. */
  async submit(contender: LaneContender): Promise<Attempted> {
    this.members += 1;
    try {
      const attempted = await this.gatherer.submit(contender);
      if (attempted instanceof Error) throw attempted;
      return attempted;
    } finally {
      this.members -= 1;
    }
  }

  private async run(batch: readonly LaneContender[]): Promise<readonly (Attempted | Error)[]> {
    const results = new Map<LaneContender, Attempted | Error>();
    let waiting = batch;
    for (let round = 1; waiting.length > 0 && round <= MAX_ROUNDS; round++) {
      for (const [contender, result] of await this.settle(waiting)) results.set(contender, result);
      waiting = waiting.filter((contender) => isOvertaken(results.get(contender)));
    }
    return batch.map((contender) => results.get(contender) ?? new Error('a chain lost a contender'));
  }

  /** What fails here concerns only those that were still waiting. */
  private async settle(
    contenders: readonly LaneContender[],
  ): Promise<readonly (readonly [LaneContender, Attempted | Error])[]> {
    try {
      const { chain, outcomes } = await (this.isContested
        ? this.commitInTurn(contenders)
        : this.commit(contenders));
      this.newest = balancesAfter(chain, outcomes);
      this.isContested ||= outcomes[0] === 'OVERTAKEN';
      return concludeChain(chain, outcomes);
    } catch (error) {
      this.newest = null;
      const cause = error instanceof Error ? error : new Error(String(error));
      return contenders.map((contender) => [contender, cause]);
    }
  }

  private async commit(contenders: readonly LaneContender[]): Promise<Committed> {
    const known = contenders.map(({ balances }) => balances);
    const newest = [...known, ...(this.newest === null ? [] : [this.newest])].reduce(newer);
    const chain = await buildChain(this.deps, contenders, newest);
    return { chain, outcomes: await this.deps.committer.submit(chain.links.map(({ commit }) => commit)) };
  }

  private async commitInTurn(contenders: readonly LaneContender[]): Promise<Committed> {
    const jtis = contenders.map(({ jti }) => jti);
    let chain: Chain<LaneContender> | undefined;
    const outcomes = await this.deps.committer.submitInTurn(this.grantId, jtis, async (facts) => {
      const [first] = facts;
      if (first === undefined) throw new Error('no balances to decide on');
      const spent = new Set(jtis.filter((_, i) => facts[i]?.isSpent === true));
      chain = await buildChain(
        this.deps,
        contenders,
        first.balances,
        (one) => one.isSpent || spent.has(one.jti),
      );
      return chain.links.map(({ commit }) => commit);
    });
    if (chain === undefined) throw new Error('nothing was decided');
    return { chain, outcomes };
  }
}

const isOvertaken = (result: Attempted | Error | undefined): boolean =>
  result !== undefined && !(result instanceof Error) && result.outcome === 'OVERTAKEN';

const newer = (a: Balances, b: Balances): Balances => (b.version > a.version ? b : a);
