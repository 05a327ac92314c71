/**
 * Decisions on the budgets of one Grant, on this node (protocol §11): one batch of them after another, each a chain. While
 * a batch is under way the next one gathers.
 *
 * A batch is evaluated on the newest balances that are known here and committed like any other; it fails where another
 * node has moved them, or is about to. Then they are read again. A lane that is overtaken once more takes its turn from
 * then on: it waits for the Grant's lock, and reads, evaluates and commits under it. So nobody is refused for having lost
 * a race, and few wait with a connection in hand. Whose turn comes too late for an answer is not decided.
 */
import type { Balances, GrantId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { Batcher } from '../lib/batcher.ts';
import type { Attempted } from './attempt.ts';
import { balancesAfter, buildChain, type Chain, type Contender, concludeChain } from './budget-chain.ts';
import type { Committer, StoredOutcome } from './committer.ts';

/** With the balances as they were when it came. */
export interface LaneContender extends Contender {
  readonly balances: Balances;
}

export type LaneDeps = Pick<ServiceDeps, 'clock' | 'identity' | 'random'> & {
  readonly committer: Committer;
  readonly findBalances: () => Promise<Balances>;
};

interface Committed {
  readonly chain: Chain<LaneContender>;
  readonly outcomes: readonly StoredOutcome[];
}

/** Turns are taken one Grant at a time, each with a connection in hand: for Grants that two nodes really contend for. */
const TIMES_BEFORE_TURN = 2;
/** Whoever fails for himself takes those behind him along: once by what is judged first, and once by what is claimed then. */
const MAX_ROUNDS = TIMES_BEFORE_TURN + 3;

export class BudgetLane {
  private readonly batcher = new Batcher<LaneContender, Attempted | Error>((batch) => this.run(batch), {
    maxInFlight: 1,
  });
  private newest: Balances | null = null;
  private timesOvertaken = 0;
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
      const attempted = await this.batcher.submit(contender);
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
      const { chain, outcomes } = await (this.timesOvertaken < TIMES_BEFORE_TURN
        ? this.commit(contenders)
        : this.commitInTurn(contenders));
      const wasOvertaken = outcomes[0] === 'OVERTAKEN';
      this.newest = wasOvertaken ? null : balancesAfter(chain, outcomes);
      if (wasOvertaken) this.timesOvertaken += 1;
      const late = chain.late.map((contender) => [contender, tooLate()] as const);
      return [...concludeChain(chain, outcomes), ...late];
    } catch (error) {
      this.newest = null;
      const cause = error instanceof Error ? error : new Error(String(error));
      return contenders.map((contender) => [contender, cause]);
    }
  }

  private async commit(contenders: readonly LaneContender[]): Promise<Committed> {
    const known = contenders.map(({ balances }) => balances);
    if (this.timesOvertaken > 0) this.newest ??= await this.deps.findBalances();
    const newest = [...known, ...(this.newest === null ? [] : [this.newest])].reduce(newer);
    const chain = await buildChain(this.deps, contenders, newest);
    const commits = chain.links.map(({ commit }) => commit);
    return { chain, outcomes: commits.length === 0 ? [] : await this.deps.committer.submit(commits) };
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

const tooLate = () => serviceUnavailable('budgets: the turn came too late to answer');

const isOvertaken = (result: Attempted | Error | undefined): boolean =>
  result !== undefined && !(result instanceof Error) && result.outcome === 'OVERTAKEN';

const newer = (a: Balances, b: Balances): Balances => (b.version > a.version ? b : a);
