/**
 * The fence as one process keeps it (protocol §10). In rounds it reads the head outside, holds it against the
 * database's lineage, and publishes the next beat: a quarter of a second apart or as long as the last one took, and
 * sooner when a server is met that nobody knows. What is asked on the path of a decision is memory alone: whether the
 * head that was last confirmed is young enough.
 *
 * A round proves that the database in hand had the head outside when the round began. So a process decides only on the
 * database that the fence stands for, and at most `maxAgeMs` after it could last tell; a database that was set back, or
 * a replaced one that woke up, lacks the head and is refused. Two that both go on are told apart by the nonces: of two
 * beats on one head, compare-and-set lets one out.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ServiceDeps } from '../deps.ts';
import { withinMs } from '../lib/deadline.ts';
import { messageOf } from '../lib/message-of.ts';
import type { Beat, FenceHead, FenceStore, HeadVerdict } from '../ports/fence.ts';
import { formatHead, HEAD_KEY, parseHead } from './head.ts';
import { NoteKeeper } from './keep-notes.ts';

export interface FenceOptions {
  readonly fenceStore: FenceStore;
  /** How long after a head no more is decided on it. */
  readonly maxAgeMs: number;
}

export interface FenceProblem {
  /**
   * `stale`: it could not be told lately. `behind`: the database, or the fence, is not the one, until somebody acts or the
   * right one is met. `woken`: a server that was silent for long is looked at. `quarantine`: a restore, or a repair of the
   * clock, is settling.
   */
  readonly kind: 'stale' | 'behind' | 'woken' | 'quarantine';
  readonly reason: string;
  /** Beyond decisions: the database may not be the one, so nothing that it says or takes counts. */
  readonly isOfAll: boolean;
  readonly isSettling?: boolean;
}

const ROUND_MS = 250;
/** Twenty looks a second at most, however often a server is met that nobody knows. */
const MIN_PAUSE_MS = 50;
const SHORTEST: Pause = { pauseMs: ROUND_MS, leastMs: MIN_PAUSE_MS };
/**
 * Longest pause as a share of the age that a head may have: a slow server is not asked all the time, and still confirms
 * twice within that age.
 */
const LONGEST_PAUSE_SHARE = 1 / 4;

/** What changed is copied out within about a second; after this long a restore could lack it (docs/operations.md). */
const LONGEST_UNKEPT_MS = 60_000;

const WHY: Readonly<Record<Exclude<HeadVerdict, 'known' | 'next'>, string>> = {
  behind:
    'the database lacks what the fence names: it was restored to an earlier moment, or replaced; run svc-admin restore',
  diverged:
    'the fence names another history of this database: it was restored or replaced; run svc-admin restore',
  forgotten: 'the fence is older than the database remembers; see svc-admin fence show',
  gone: 'the database had a fence, and there is none where SVC_FENCE says; see svc-admin fence show',
};

const REPLACED =
  'the database was restored or replaced under this process, which remembers what the former one said: start it anew';

const WOKEN =
  'the database was silent for long and answers again: it is looked at for some seconds, since another one may have taken over';

/** Below the least time after which a silent primary is replaced (Patroni: 20 s). */
const LONG_SILENCE_MS = 10_000;
/** Above the time in which one that was replaced is told (Patroni: `loop_wait`). */
const SETTLE_MS = 5_000;
const KNOWN_SERVERS = 8;
/** In a round. A store that lets nobody publish is not asked without end. */
const LOOKS_AGAIN = 2;
/** Nothing else is known to be wrong. */
const NOT_BACK = 'the look that is under way has no answer yet';

interface Pause {
  readonly pauseMs: number;
  /** Before a round that was asked for. */
  readonly leastMs: number;
}

/**
 * Between two rounds: as long as the last one took, if it confirmed the head, so that a slow server is asked half of
 * the time at most, also where rounds are asked for. What failed is tried again soon: the head grows old meanwhile.
 */
export const pauseAfter = (round: { tookMs: number; isConfirmed: boolean; maxAgeMs: number }): Pause => {
  if (!round.isConfirmed) return SHORTEST;
  const longMs = Math.min(round.tookMs, round.maxAgeMs * LONGEST_PAUSE_SHARE);
  return { pauseMs: Math.max(ROUND_MS, longMs), leastMs: Math.max(MIN_PAUSE_MS, longMs) };
};

type Deps = Pick<ServiceDeps, 'store' | 'random' | 'crypto' | 'identity' | 'log'>;

export class Fence {
  readonly #stopping = new AbortController();
  /** When the confirmed head was made at the latest, by the monotonic clock. */
  #headMs = Number.NEGATIVE_INFINITY;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #refusal: FenceProblem | null = null;
  #failure = NOT_BACK;
  #confirmedSeq: number | null = null;
  /** Servers that were confirmed, the last one at the end. */
  #servers: readonly string[] = [];
  /** Until when a server that was silent for long is only looked at. */
  #settlesMs: number | null = null;
  /** Epoch of the database that was confirmed first. */
  #epoch: number | null = null;
  #isReplaced = false;
  #lastSeq = 0;
  #told: string | null = null;
  #running: Promise<void> = Promise.resolve();
  #keeping: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  /** Aborted when a look is asked for since the last one began, and when the fence stops. */
  #asked = new AbortController();
  readonly #keeper: NoteKeeper;

  constructor(
    private readonly deps: Deps,
    private readonly options: FenceOptions,
  ) {
    this.#keeper = new NoteKeeper(deps, options.fenceStore);
    deps.store.lineage.onUnknown(() => this.#asked.abort());
  }

  /** Rounds from now on until `stop`. Resolves after the first, whatever it found. */
  async start(): Promise<void> {
    await this.round();
    this.#running = this.#goOn();
  }

  /** Why nothing may be decided now, or null. Asks nobody. */
  problem(): FenceProblem | null {
    if (this.#refusal !== null) return this.#refusal;
    const ageMs = performance.now() - this.#headMs;
    const { maxAgeMs } = this.options;
    if (ageMs <= maxAgeMs) return null;
    // A process that has never seen its fence knows nothing of its database; one that has, goes on with all but decisions.
    const isOfAll = !Number.isFinite(ageMs);
    const age = isOfAll ? 'yet' : `for ${Math.round(ageMs)} ms, where SVC_FENCE_MAX_AGE_MS is ${maxAgeMs}`;
    return { kind: 'stale', reason: `the fence was not confirmed ${age}: ${this.#failure}`, isOfAll };
  }

  /** How long the change that waits longest has not been copied out; 0: none waits. Asks nobody. */
  unkeptForMs(): number {
    return this.#keeper.ageMs();
  }

  /** Why a restore could lack what was revoked, or null. Decisions go on: nothing that they rest on is in doubt. */
  describeUnkept(): string | null {
    const ageMs = this.#keeper.ageMs();
    if (ageMs <= LONGEST_UNKEPT_MS) return null;
    const failure = this.#keeper.failure();
    const ofRound = this.#failure === NOT_BACK ? 'there is much to copy' : this.#failure;
    const why = failure === null ? ofRound : `${failure.key}: ${failure.error}`;
    return `what changed ${Math.round(ageMs / 1000)} s ago is not copied beside the fence: ${why}`;
  }

  /** One look outside. Never rejects. */
  async round(): Promise<void> {
    this.#asked = new AbortController();
    const over = new AbortController();
    try {
      await withinMs(this.options.maxAgeMs, this.#look(over.signal), () => {
        over.abort();
        throw new Error(`no answer within ${this.options.maxAgeMs} ms`);
      });
    } catch (error) {
      this.#failure = messageOf(error);
      // No pass begins in such a round, and what waits meanwhile is in the database.
      this.#looking ??= this.#lookAtNotes();
    }
    this.#tell();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#asked.abort();
    await this.#running;
    await this.#keeping;
    await this.#looking;
  }

  async #goOn(): Promise<void> {
    const { signal } = this.#stopping;
    const { maxAgeMs } = this.options;
    for (let { pauseMs, leastMs } = SHORTEST; !signal.aborted; ) {
      await this.#pause(leastMs, signal);
      await this.#pause(pauseMs - leastMs, this.#asked.signal);
      if (signal.aborted) return;
      const beganMs = performance.now();
      await this.round();
      const tookMs = performance.now() - beganMs;
      const isConfirmed = this.#confirmedAtMs >= beganMs;
      ({ pauseMs, leastMs } = pauseAfter({ tookMs, isConfirmed, maxAgeMs }));
    }
  }

  async #pause(ms: number, signal: AbortSignal): Promise<void> {
    await delay(ms, undefined, { signal, ref: false }).catch(() => {});
  }

  /**
   * `over`: the round has given it up. What it finds from then on says nothing of the server that counts, since another
   * one may have been confirmed meanwhile; what changed is copied out all the same, however slow the store is.
   */
  async #look(over: AbortSignal, again = LOOKS_AGAIN): Promise<void> {
    const { store, random, identity } = this.deps;
    const { fenceStore } = this.options;
    const startedMs = performance.now();
    const found = await fenceStore.find(HEAD_KEY);
    const head = found === null ? null : parseHead(identity.did, found.text);
    if (head !== null && 'problem' in head) return over.aborted ? undefined : this.#refuse(head.problem);
    const nonce = Buffer.from(random.bytes(16)).toString('hex');
    const sentMs = performance.now();
    const beat = await store.lineage.beat(head, nonce);
    const isSound = beat.verdict === 'known' || beat.verdict === 'next';
    if (over.aborted) return isSound ? this.#startKeeping() : undefined;
    if (this.#noticeReplaced(beat)) return this.#refuse(REPLACED, beat);
    if (beat.verdict !== 'known' && beat.verdict !== 'next') return this.#refuse(WHY[beat.verdict], beat);
    if (this.#mustSettle(beat, head)) return this.#refuse(WOKEN, beat, 'woken');
    this.#note(head);
    const isKnown = beat.verdict === 'known';
    const isPublished =
      !isKnown &&
      (await fenceStore.put(HEAD_KEY, formatHead(identity.did, headOf(beat, nonce)), found?.tag ?? null));
    if (over.aborted) return this.#startKeeping();
    if (isKnown) this.#confirm(beat, Math.min(startedMs, sentMs - (beat.ageMs ?? 0)));
    else if (isPublished) this.#confirm(beat, sentMs);
    // Another process was first: what it published is looked at at once, so that nobody loses several rounds on end.
    else if (again > 0) return this.#look(over, again - 1);
    else this.#failure = 'another process was first each time';
    this.#startKeeping();
  }

  #startKeeping(): void {
    this.#keeping ??= this.#keep();
  }

  async #keep(): Promise<void> {
    try {
      await this.#keeper.pass(this.#stopping.signal);
    } catch (error) {
      this.deps.log.warn('fence.not_kept', { error: messageOf(error) });
    } finally {
      this.#keeping = null;
    }
  }

  async #lookAtNotes(): Promise<void> {
    try {
      await this.#keeper.look();
    } catch {
      // Away too: what waited before goes on to age.
    } finally {
      this.#looking = null;
    }
  }

  /**
   * Whether the database was set back under this process, which remembers Grants and callers of the former one: for ever, since
   * it may come back restored between two rounds. One that never saw it confirmed has remembered nothing. A server that was
   * confirmed before, and runs since, was not restored: another one has taken over from it, and has all that it answered.
   */
  #noticeReplaced({ verdict, epoch, server }: Beat): boolean {
    if (this.#epoch === null) return false;
    const isSetBack = (verdict === 'behind' || verdict === 'diverged') && !this.#servers.includes(server);
    this.#isReplaced ||= isSetBack || epoch !== this.#epoch;
    return this.#isReplaced && (verdict === 'known' || verdict === 'next');
  }

  /**
   * A server that was silent for longer than it takes to replace it, and answers again, may not know yet that it was: whoever
   * promoted the other one needs a moment to tell it. If the fence has moved meanwhile, that has been seen already.
   */
  #mustSettle({ server }: Beat, head: FenceHead | null): boolean {
    const nowMs = performance.now();
    const isSilentSince = server === this.#servers.at(-1) && head?.seq === this.#confirmedSeq;
    if (!isSilentSince || nowMs - this.#headMs < LONG_SILENCE_MS) {
      this.#settlesMs = null;
      return false;
    }
    this.#settlesMs ??= nowMs + SETTLE_MS;
    return nowMs < this.#settlesMs;
  }

  #confirm({ epoch, seq, server, quarantineMs }: Beat, headMs: number): void {
    this.#epoch ??= epoch;
    this.#confirmedSeq = seq;
    this.#settlesMs = null;
    if (server !== this.#servers.at(-1))
      this.#servers = [...this.#servers.filter((one) => one !== server), server].slice(-KNOWN_SERVERS);
    this.deps.store.lineage.trust(server);
    this.#headMs = Math.max(this.#headMs, headMs);
    this.#confirmedAtMs = performance.now();
    this.#failure = NOT_BACK;
    const reason = `a restore or a repair of the clock is settling: decisions begin in ${Math.ceil(quarantineMs / 1000)} s`;
    this.#refusal =
      quarantineMs > 0 ? { kind: 'quarantine', reason, isOfAll: false, isSettling: true } : null;
  }

  #refuse(reason: string, beat?: Beat, kind: 'behind' | 'woken' = 'behind'): void {
    // One that was never confirmed is not the one that counts anyway; with a fence that is gone nothing is wrong with the server.
    const isReplaced = beat !== undefined && beat.verdict !== 'gone' && beat.verdict !== 'forgotten';
    if (isReplaced && this.#servers.includes(beat.server)) this.deps.store.lineage.doubt(beat.server);
    this.#refusal = { kind, reason, isOfAll: true };
  }

  #note(head: FenceHead | null): void {
    const seq = head?.seq ?? 0;
    if (seq < this.#lastSeq) this.deps.log.warn('fence.went_back', { from: this.#lastSeq, to: seq });
    this.#lastSeq = seq;
  }

  /** In the log when it changes, and no oftener. */
  #tell(): void {
    const problem = this.problem();
    const kind = problem?.kind ?? null;
    if (kind === this.#told) return;
    this.#told = kind;
    if (problem === null) this.deps.log.warn('fence.confirmed', { seq: this.#lastSeq });
    else if (kind === 'behind') this.deps.log.error('fence.refuses', { fence: kind, reason: problem.reason });
    // Each switchover has these; the hold has an alert of its own for those that last.
    else this.deps.log.warn('fence.waits', { fence: kind, reason: problem.reason });
  }
}

const headOf = ({ epoch, seq, atMs }: Beat, nonce: string): FenceHead => {
  if (seq === null || atMs === null) throw new Error('a beat without its place');
  return { epoch, seq, nonce, atMs };
};
