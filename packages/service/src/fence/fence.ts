/**
 * The fence of one process (protocol §10). It works in rounds. Each round reads the head outside the database, compares
 * it with the database's lineage, and publishes the next beat when it is time. The pause between rounds is a quarter of
 * a second, or as long as the last round took; it is shorter when an unknown server was connected. A decision reads
 * only memory: whether the head that was confirmed last is young enough.
 *
 * A round proves that the connected database had the head when the round began. So a process decides only on the
 * database that the fence names, and for at most `maxAgeMs` after the last proof. A database that was set back, or was
 * replaced and answers again, lacks the head and is refused. Two databases that both continue differ in their nonces:
 * of two beats on one head, compare-and-set lets only one be published.
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
  /** Maximum age of a head, ms. Nothing is decided on an older one. */
  readonly maxAgeMs: number;
}

export interface FenceProblem {
  /**
   * - `stale`: the head was not confirmed recently.
   * - `behind`: the database or the fence is not the right one, until an operator acts or the right one is connected.
   * - `woken`: a server answers after a long silence and is being observed.
   * - `quarantine`: the quarantine after a restore or a repair of the clock.
   */
  readonly kind: 'stale' | 'behind' | 'woken' | 'quarantine';
  readonly reason: string;
  /**
   * Affects more than decisions: the database may be the wrong one, so neither its answers nor its writes can be used.
   */
  readonly isOfAll: boolean;
  readonly isSettling?: boolean;
}

const ROUND_MS = 250;
/** At most twenty rounds a second, however often an unknown server is connected. */
const MIN_PAUSE_MS = 50;
const SHORTEST: Pause = { pauseMs: ROUND_MS, leastMs: MIN_PAUSE_MS };
/**
 * Longest pause as a share of the maximum age of a head. With it a slow server has pauses, and still confirms the head
 * twice within that age.
 */
const LONGEST_PAUSE_SHARE = 1 / 4;

/**
 * Changes are normally copied within about a second. Above this age the fence reports that a restore could lack them
 * (docs/operations.md).
 */
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

/** Less than the shortest time after which a silent primary is replaced (Patroni: 20 s). */
const LONG_SILENCE_MS = 10_000;
/** More than the time within which a replaced primary is informed (Patroni: `loop_wait`). */
const SETTLE_MS = 5_000;
const KNOWN_SERVERS = 8;
/** Most repetitions within a round, so that a store in which no process can publish is not asked without end. */
const LOOKS_AGAIN = 2;
/** The failure as long as no other one is known. */
const NOT_BACK = 'the look that is under way has no answer yet';

interface Pause {
  readonly pauseMs: number;
  /** Shortest pause, before a round that was requested. */
  readonly leastMs: number;
}

/**
 * The pause between two rounds. After a round that confirmed the head, it is as long as that round took. So a slow
 * server is asked at most half of the time, also where rounds are requested. After a failed round it is short, because
 * the head becomes older meanwhile.
 */
export const pauseAfter = (round: { tookMs: number; isConfirmed: boolean; maxAgeMs: number }): Pause => {
  if (!round.isConfirmed) return SHORTEST;
  const longMs = Math.min(round.tookMs, round.maxAgeMs * LONGEST_PAUSE_SHARE);
  return { pauseMs: Math.max(ROUND_MS, longMs), leastMs: Math.max(MIN_PAUSE_MS, longMs) };
};

type Deps = Pick<ServiceDeps, 'store' | 'random' | 'crypto' | 'identity' | 'log'>;

export class Fence {
  readonly #stopping = new AbortController();
  /** Time of the confirmed head, by the monotonic clock; the head is at least this old. */
  #headMs = Number.NEGATIVE_INFINITY;
  #confirmedAtMs = Number.NEGATIVE_INFINITY;
  #refusal: FenceProblem | null = null;
  #failure = NOT_BACK;
  #confirmedSeq: number | null = null;
  /** Servers that were confirmed, the latest at the end. */
  #servers: readonly string[] = [];
  /** Until when a server that answers after a long silence is only observed. */
  #settlesMs: number | null = null;
  /** Epoch of the first confirmed database. */
  #epoch: number | null = null;
  #isReplaced = false;
  #lastSeq = 0;
  #told: string | null = null;
  #running: Promise<void> = Promise.resolve();
  #keeping: Promise<void> | null = null;
  #looking: Promise<void> | null = null;
  /** Aborted when a round was requested since the last one began, and when the fence stops. */
  #asked = new AbortController();
  readonly #keeper: NoteKeeper;

  constructor(
    private readonly deps: Deps,
    private readonly options: FenceOptions,
  ) {
    this.#keeper = new NoteKeeper(deps, options.fenceStore);
    deps.store.lineage.onUnknown(() => this.#asked.abort());
  }

  /** Runs rounds until `stop`. Resolves after the first round, whatever its result. */
  async start(): Promise<void> {
    await this.round();
    this.#running = this.#goOn();
  }

  /** Why nothing may be decided now, or null. Answers from memory. */
  problem(): FenceProblem | null {
    if (this.#refusal !== null) return this.#refusal;
    const ageMs = performance.now() - this.#headMs;
    const { maxAgeMs } = this.options;
    if (ageMs <= maxAgeMs) return null;
    // Before the first confirmation the database may be the wrong one. Later only decisions stop.
    const isOfAll = !Number.isFinite(ageMs);
    const age = isOfAll ? 'yet' : `for ${Math.round(ageMs)} ms, where SVC_FENCE_MAX_AGE_MS is ${maxAgeMs}`;
    return { kind: 'stale', reason: `the fence was not confirmed ${age}: ${this.#failure}`, isOfAll };
  }

  /** Milliseconds for which the oldest uncopied change has waited; 0: none waits. Answers from memory. */
  unkeptForMs(): number {
    return this.#keeper.ageMs();
  }

  /** Why a restore could lack revocations, or null. Decisions continue, because their facts are not in doubt. */
  describeUnkept(): string | null {
    const ageMs = this.#keeper.ageMs();
    if (ageMs <= LONGEST_UNKEPT_MS) return null;
    const failure = this.#keeper.failure();
    const ofRound = this.#failure === NOT_BACK ? 'there is much to copy' : this.#failure;
    const why = failure === null ? ofRound : `${failure.key}: ${failure.error}`;
    return `what changed ${Math.round(ageMs / 1000)} s ago is not copied beside the fence: ${why}`;
  }

  /** Runs one round. Never rejects. */
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
      // No pass begins in a failed round, so the age of waiting notes is read from the database here.
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
   * `over` is aborted when the round has given up this look. What the look finds after that must not change the state,
   * because another server may have been confirmed meanwhile. Changes are still copied, so that a slow store delays
   * the copies but does not prevent them.
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
    // Another process published first. Its head is read at once, so that no process loses several rounds in a row.
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
      // The database does not answer either: the age that was read before continues to grow.
    } finally {
      this.#looking = null;
    }
  }

  /**
   * Whether the database was set back while this process runs, whose caches still hold Grants and callers of the former
   * one. Once true it stays true, because the database may be restored between two rounds. Before the first
   * confirmation it is false, because nothing was cached yet. A server that was confirmed before and has not restarted
   * was not set back: another server has taken over from it, and has everything that it answered.
   */
  #noticeReplaced({ verdict, epoch, server }: Beat): boolean {
    if (this.#epoch === null) return false;
    const isSetBack = (verdict === 'behind' || verdict === 'diverged') && !this.#servers.includes(server);
    this.#isReplaced ||= isSetBack || epoch !== this.#epoch;
    return this.#isReplaced && (verdict === 'known' || verdict === 'next');
  }

  /**
   * Whether the server must be observed first, because it was silent for longer than it takes to replace it. The
   * cluster manager needs a moment to inform a server that was replaced. If the head has moved meanwhile, the round has
   * compared it already, and no observation is needed.
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
    // A server that was never confirmed is not trusted anyway. Where the fence is gone or older, the server is not at
    // fault.
    const isReplaced = beat !== undefined && beat.verdict !== 'gone' && beat.verdict !== 'forgotten';
    if (isReplaced && this.#servers.includes(beat.server)) this.deps.store.lineage.doubt(beat.server);
    this.#refusal = { kind, reason, isOfAll: true };
  }

  #note(head: FenceHead | null): void {
    const seq = head?.seq ?? 0;
    if (seq < this.#lastSeq) this.deps.log.warn('fence.went_back', { from: this.#lastSeq, to: seq });
    this.#lastSeq = seq;
  }

  /** Logs the kind of problem when it changes. */
  #tell(): void {
    const problem = this.problem();
    const kind = problem?.kind ?? null;
    if (kind === this.#told) return;
    this.#told = kind;
    if (problem === null) this.deps.log.warn('fence.confirmed', { seq: this.#lastSeq });
    else if (kind === 'behind') this.deps.log.error('fence.refuses', { fence: kind, reason: problem.reason });
    // These occur in each switchover. The hold has its own alert for those that last.
    else this.deps.log.warn('fence.waits', { fence: kind, reason: problem.reason });
  }
}

const headOf = ({ epoch, seq, atMs }: Beat, nonce: string): FenceHead => {
  if (seq === null || atMs === null) throw new Error('a beat without its place');
  return { epoch, seq, nonce, atMs };
};
