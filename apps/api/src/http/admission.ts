/**
 * How many verifications may be under way at once, so that what is taken in is answered in good time. A service that
 * takes in more than it can do answers everything late: callers give up, what is done for them is wasted, and it stays
 * so after the load has gone. What comes beyond the limit is refused at once, before anything is done for it.
 *
 * The limit is found by trying. When answers come late it becomes what was answered in the time that an answer may take
 * (Little's law), at the best rate of the last seconds, or what was carried on at best within the last minute: at half
 * load the rate is what was asked, and no capacity, and after a moment of standstill the best is that at which what had
 * waited was answered. Answers come in batches, so the best of a moment may be more than can be carried on: where what
 * came in just after a cut is late as well, cuts become deeper, and again less deep while few answers are late, or at
 * once where next to nothing is refused for a second. A commit that is held up makes all its answers late and is no
 * queue: most answers of the last half second must be. While answers come in half the time and the limit is used up it
 * grows by a quarter in each round. Where even the quickest answer is slow with few under way, a disk is, and no queue:
 * taking in less would make none quicker, so late is then later.
 *
 * How much can be carried is not known of a service that has just been idle, or started: its connections are not open
 * and its code is not compiled. Once many are under way, nothing is concluded from what comes in within the first one
 * and a half seconds.
 *
 * What a caller itself makes last is not learned from, or anybody could lower the limit for all: a body that comes
 * slowly, a batch, which is many answers one after another, and what waited for a host of somebody else. How quick an
 * answer can be is learned from decisions that were stored alone.
 */
import type { Tenant } from '@svc/service';
import { ApiError } from './api-error.ts';

/** Below the 400 ms that a decision waits for its turn at a connection, far above an answer of a service that keeps up. */
const LATE_MS = 300;
/** Twice the quickest answer of the last seconds, but never so much that answers would miss their deadline. */
const LATEST_MS = 900;
const QUICKEST_WINDOW_MS = 3_000;
/** While requests are refused, what was learned of the quickest is believed for so long. */
const QUICKEST_COUNTS_MS = 12_000;
const BEST_RATE_WINDOW_MS = 5_000;
/**
 * What was carried on for so long, and for how long the best of that is remembered: at half load nothing else tells
 * what is carried.
 */
const CARRIED_MS = 1_500;
const CARRIED_WINDOW_MS = 60_000;
const RATE_WINDOW_MS = 250;
/** A running window counts once it is this long; shorter ones show how answers come in batches. */
const MIN_RATE_WINDOW_MS = 150;
/** What came in so soon after a cut and is late says that the cut was not deep enough. */
const CUT_SHOWS_MS = 1_000;
const CUT_DEEPER = 0.6;
const DEEPEST_CUT = 0.15;
/**
 * And so much less deep it becomes with each window in which few were late, since commits of few cost nearly what those
 * of many do.
 */
const SHALLOWER = 1.02;
/**
 * Below this depth, and where no answer was late, cuts become shallow more quickly: one standstill of a second causes
 * several cuts.
 */
const SHALLOW = 0.5;
const SOON_SHALLOW = 1.1;
const FEW_SHARE = 0.1;
/** A commit that is held up makes all its answers late; where more than so many of all are, it is a queue. */
const QUEUE_SHARE = 0.5;
/** An overload is over after so many windows in which fewer than one in so many was refused. */
const CALM_WINDOWS = 4;
const CALM_SHARE = 20;
/** Few enough to be answered in good time by a service that makes 60 decisions a second. */
const MIN_LIMIT = 16;
const MAX_LIMIT = 2_048;
/**
 * Of the limit, what orgs, and all newcomers together as one of them, divide among themselves: whoever has an equal part of it
 * already gets none of the other places. They are for those who have less, so that no flood, of however many, keeps
 * everybody else out.
 */
const SHARE = 0.75;
/**
 * Many under way, so recently, are of one crowd: as long as the best rate is remembered, so that who floods in bursts
 * is known. And for how long nothing is concluded from a new one.
 */
const SAME_CROWD_MS = 5_000;
const SETTLES_MS = 1_500;
/** Refusals this close to each other are of one overload. */
const CALM_MS = 5_000;
const MAX_RETRY_AFTER_SECONDS = 8;

/** What there is to learn from a request that is over. */
export interface Leaving {
  /** Number of decisions that were made for it; 0 where the service failed. */
  readonly decisions: number;
  /** How long it took says something about this service. */
  readonly isSample: boolean;
  /** It stored a decision: what is refused, repeated or only tried says nothing of how quick that can be. */
  readonly hasStored: boolean;
  /** When all of it had been received; before that its sender is waited for. */
  readonly receivedAtMs: number;
}

interface Sample {
  readonly beganAtMs: number;
  readonly leftAtMs: number;
  /** So many were under way when it came in, itself included. */
  readonly place: number;
  readonly wasUsedUp: boolean;
  readonly hasStored: boolean;
}

const ONE: Leaving = { decisions: 1, isSample: true, hasStored: true, receivedAtMs: 0 };

/** The best value of the present window and the one before it; `worst` where nothing came. */
class BestLately {
  #beganAtMs = 0;
  #best: number;
  #bestBefore: number;

  constructor(
    readonly windowMs: number,
    readonly worst: number,
    readonly better: (a: number, b: number) => number,
  ) {
    this.#best = worst;
    this.#bestBefore = worst;
  }

  add(value: number, nowMs: number): void {
    this.at(nowMs);
    this.#best = this.better(this.#best, value);
  }

  at(nowMs: number): number {
    const windows = Math.floor((nowMs - this.#beganAtMs) / this.windowMs);
    if (windows > 0) {
      // The last window that anything came in, however long ago.
      if (this.#best !== this.worst) this.#bestBefore = this.#best;
      this.#best = this.worst;
      this.#beganAtMs += windows * this.windowMs;
    }
    return this.better(this.#best, this.#bestBefore);
  }
}

/** Which share of the answers was late, in the present window and the one before it. */
class LateLately {
  #counts = { late: 0, all: 0 };
  #before = { late: 0, all: 0 };

  add(isLate: boolean): void {
    this.#counts.all += 1;
    if (isLate) this.#counts.late += 1;
  }

  share(): number {
    const all = this.#counts.all + this.#before.all;
    return all === 0 ? 0 : (this.#counts.late + this.#before.late) / all;
  }

  nextWindow(): void {
    this.#before = this.#counts;
    this.#counts = { late: 0, all: 0 };
  }

  clear(): void {
    this.nextWindow();
    this.nextWindow();
  }
}

export class Admission {
  #limit = MAX_LIMIT;
  #underWay = 0;
  readonly #byShare = new Map<string, number>();
  #windowBeganAtMs = 0;
  #answered = 0;
  readonly #perMs = new BestLately(BEST_RATE_WINDOW_MS, 0, Math.max);
  readonly #carriedPerMs = new BestLately(CARRIED_WINDOW_MS, 0, Math.max);
  #carriedSinceMs = 0;
  #carried = 0;
  readonly #quickestMs = new BestLately(QUICKEST_WINDOW_MS, Number.POSITIVE_INFINITY, Math.min);
  #quickestAtMs = Number.NEGATIVE_INFINITY;
  #cutAtMs = Number.NEGATIVE_INFINITY;
  /** The share of what the best rate allows that a limit is cut to. */
  #depth = 1;
  #answeredLast = 0;
  readonly #late = new LateLately();
  #refused = 0;
  #calmWindows = 0;
  #overloadedSinceMs = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #crowdedSinceMs = Number.POSITIVE_INFINITY;
  #crowdedAtMs = Number.NEGATIVE_INFINITY;

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Answers how to leave, which is done once, with the present. Throws 503. Times are monotonic, in milliseconds. */
  enter({ crowd, org }: Tenant, nowMs: number): (nowMs: number, leaving?: Leaving) => void {
    const share = crowd === 'tenants' ? org : crowd;
    const ofShare = this.#byShare.get(share) ?? 0;
    const shares = this.#byShare.size + (ofShare === 0 ? 1 : 0);
    const shared = Math.ceil(this.limit * SHARE);
    const isOver = this.#underWay >= shared && ofShare >= Math.max(1, Math.floor(shared / shares));
    if (isOver || this.#underWay >= this.limit) this.#refuse(nowMs);
    const wasUsedUp = (this.#underWay + 1) * 2 >= shared;
    this.#underWay += 1;
    const place = this.#underWay;
    if (place >= MIN_LIMIT) {
      if (nowMs - this.#crowdedAtMs > SAME_CROWD_MS) this.#crowdedSinceMs = nowMs;
      this.#crowdedAtMs = nowMs;
    }
    this.#byShare.set(share, ofShare + 1);
    return (leftAtMs, { decisions, isSample, hasStored, receivedAtMs } = ONE) => {
      this.#underWay -= 1;
      const left = (this.#byShare.get(share) ?? 1) - 1;
      if (left === 0) this.#byShare.delete(share);
      else this.#byShare.set(share, left);
      this.#count(leftAtMs, decisions);
      const beganAtMs = Math.max(nowMs, receivedAtMs);
      if (isSample) this.#learn({ beganAtMs, leftAtMs, place, wasUsedUp, hasStored });
    };
  }

  #learn({ beganAtMs, leftAtMs, place, wasUsedUp, hasStored }: Sample): void {
    const tookMs = leftAtMs - beganAtMs;
    const isSettled = beganAtMs - this.#crowdedSinceMs >= SETTLES_MS;
    // A request's own time is what it took less the time that those before it need at the present rate.
    if (hasStored && place <= MIN_LIMIT) {
      const perMs = isSettled ? this.#perMs.at(leftAtMs) : 0;
      const ownMs = perMs === 0 ? tookMs : Math.max(0, tookMs - (place - 1) / perMs);
      this.#quickestMs.add(ownMs, leftAtMs);
      this.#quickestAtMs = leftAtMs;
    } else if (hasStored && tookMs < this.#quickestMs.at(leftAtMs)) this.#quickestMs.add(tookMs, leftAtMs);
    const lateMs = this.#lateMs(leftAtMs);
    // What came in before the last cut is late by what was taken in before it.
    const tells = isSettled && beganAtMs >= this.#cutAtMs;
    if (tells) this.#late.add(tookMs > lateMs);
    if (tookMs <= lateMs) {
      const mayGrow = wasUsedUp && tookMs <= lateMs - LATE_MS / 2;
      if (mayGrow)
        this.#limit = Math.min(MAX_LIMIT, this.#limit + Math.max(1, this.#limit / 4) / this.#limit);
      return;
    }
    if (!tells || this.#late.share() <= QUEUE_SHARE) return;
    const isStillLate = beganAtMs < this.#cutAtMs + CUT_SHOWS_MS;
    if (isStillLate) this.#depth = Math.max(DEEPEST_CUT, this.#depth * CUT_DEEPER);
    const limit = Math.max(MIN_LIMIT, this.#answeredIn(lateMs * this.#depth, leftAtMs));
    // What would be let in again is late by something else, once.
    if (place <= limit && !isStillLate) return;
    this.#cutAtMs = leftAtMs;
    this.#late.clear();
    this.#limit = Math.min(this.#limit, limit);
  }

  #lateMs(nowMs: number): number {
    // A queue that is let grow since answers were slow once lets nothing in behind few, and would stay for that.
    const isKnown = this.#refusedAtMs < nowMs - CALM_MS || nowMs - this.#quickestAtMs < QUICKEST_COUNTS_MS;
    return isKnown ? Math.min(LATEST_MS, Math.max(LATE_MS, 2 * this.#quickestMs.at(nowMs))) : LATE_MS;
  }

  #answeredIn(ms: number, nowMs: number): number {
    const elapsedMs = nowMs - this.#windowBeganAtMs;
    const perMs = elapsedMs < MIN_RATE_WINDOW_MS ? 0 : this.#answered / elapsedMs;
    return Math.max(this.#perMs.at(nowMs), this.#carriedPerMs.at(nowMs), perMs) * ms;
  }

  #count(nowMs: number, decisions: number): void {
    this.#carried += decisions;
    const carriedForMs = nowMs - this.#carriedSinceMs;
    if (carriedForMs >= CARRIED_MS) {
      this.#carriedPerMs.add(this.#carried / carriedForMs, nowMs);
      this.#carriedSinceMs = nowMs;
      this.#carried = 0;
    }
    this.#answered += decisions;
    const elapsedMs = nowMs - this.#windowBeganAtMs;
    if (elapsedMs < RATE_WINDOW_MS) return;
    this.#perMs.add(this.#answered / elapsedMs, nowMs);
    this.#windowBeganAtMs = nowMs;
    this.#answeredLast = this.#answered;
    this.#answered = 0;
    // A cut that was made before the best was known is taken back.
    this.#calmWindows = this.#refused * CALM_SHARE < this.#answeredLast ? this.#calmWindows + 1 : 0;
    this.#refused = 0;
    const late = this.#late.share();
    if (this.#calmWindows >= CALM_WINDOWS) this.#depth = 1;
    else if (late === 0 && this.#depth < SHALLOW) this.#depth *= SOON_SHALLOW;
    else if (late < FEW_SHARE) this.#depth = Math.min(1, this.#depth * SHALLOWER);
    this.#late.nextWindow();
    this.#limit = Math.min(MAX_LIMIT, Math.max(this.#limit, this.#answeredIn(LATE_MS * this.#depth, nowMs)));
  }

  #refuse(nowMs: number): never {
    this.#refused += 1;
    if (nowMs - this.#refusedAtMs > CALM_MS) this.#overloadedSinceMs = nowMs;
    this.#refusedAtMs = nowMs;
    const lastsSeconds = (nowMs - this.#overloadedSinceMs) / 1_000;
    throw new ApiError('SERVICE_UNAVAILABLE', 'More is asked of the service than it can answer in time', {
      detail: `admission: ${this.#underWay} under way, limit ${this.limit}`,
      retryAfterSeconds: Math.min(MAX_RETRY_AFTER_SECONDS, 1 + Math.floor(lastsSeconds)),
    });
  }
}
