/**
 * An adaptive limit of concurrent verifications. A service that admits more than it can do answers everything late:
 * callers give up, the work for them is wasted, and this continues after the load has gone. Requests above the limit
 * are refused at once, before any work is done for them.
 *
 * - Latency. If even the quickest answer is slow with few requests under way, the cause is a disk and not a queue, and
 *   admitting less would not help. In this case the acceptable latency is raised instead.
 * - Increase. While answers take at most the acceptable time less half of `LATE_MS` and the limit is in use, it grows
 *   by a quarter per round.
 * - Decrease. When answers are late, the limit is cut to throughput × acceptable latency (Little's law). Throughput is
 *   the best rate of the last seconds, or the best sustained rate of the last minute. Neither alone is enough: at half
 *   load the recent rate shows the demand and not the capacity, and after a standstill it shows how a backlog was
 *   answered.
 * - Evidence. One commit that is held up makes all its answers late without any queue. Therefore the limit decreases
 *   only if most answers of the last half second were late.
 * - Cut factor. Answers come in batches, so the best rate of a moment may not be sustainable. If requests that were
 *   admitted just after a cut are late too, the next cuts go to a smaller share of that rate. The factor recovers while
 *   few answers are late, and at once when next to nothing has been refused for a second.
 * - Start. A service that was idle, or has just started, has no open connections and no compiled code, so its capacity
 *   is unknown. Once many requests are under way, those of the first one and a half seconds are not evidence.
 * - Fairness of the evidence. Time that a caller controls is ignored; otherwise any caller could lower the limit for
 *   all. This covers slow bodies, batches (many answers one after another) and waits for hosts of third parties.
 *   Requests that are refused without a decision are quick and are ignored too; otherwise any caller could raise the
 *   limit. The quickest answer is learned from stored decisions only.
 */
import type { Tenant } from '@svc/service';
import { ApiError } from './api-error.ts';
import { WindowedExtremum, WindowedRate, WindowedShare } from './windowed.ts';

/**
 * Less than the 400 ms that a decision waits for its turn at a connection, far more than an answer of a service that
 * keeps up takes.
 */
const LATE_MS = 300;
/**
 * The acceptable latency is twice the quickest answer of the last seconds, but at most this, so that answers meet their
 * deadline.
 */
const LATEST_MS = 900;
const QUICKEST_WINDOW_MS = 3_000;
/** How long the quickest answer stays valid while requests are being refused. */
const QUICKEST_COUNTS_MS = 12_000;
const BEST_RATE_WINDOW_MS = 5_000;
/** A rate over this time counts as sustained. The best sustained rate is remembered for `BEST_SUSTAINED_WINDOW_MS`. */
const SUSTAINED_WINDOW_MS = 1_500;
const BEST_SUSTAINED_WINDOW_MS = 60_000;
const RATE_WINDOW_MS = 250;
/** A window that has not ended counts once it is this long; shorter ones show how answers come in batches. */
const MIN_RATE_WINDOW_MS = 150;
/** If a request that was admitted within this time after a cut is answered late, the cut was not deep enough. */
const CUT_SHOWS_MS = 1_000;
/** Multiplies the cut factor when a cut was not deep enough. */
const CUT_FACTOR_DECREASE = 0.6;
const MIN_CUT_FACTOR = 0.15;
/**
 * Multiplies the cut factor with each window in which few answers were late. Small, since small batches cost nearly as
 * much.
 */
const RECOVERY = 1.02;
/** The same below `QUICK_RECOVERY_BELOW` when no answer was late: one standstill of a second causes several cuts. */
const QUICK_RECOVERY = 1.1;
const QUICK_RECOVERY_BELOW = 0.5;
const FEW_SHARE = 0.1;
/** Share of late answers above which a queue is assumed, and not one commit that is held up. */
const QUEUE_SHARE = 0.5;
/**
 * An overload is over after `CALM_WINDOWS` windows in each of which fewer than one request in `CALM_SHARE` was
 * refused.
 */
const CALM_WINDOWS = 4;
const CALM_SHARE = 20;
/** Few enough to be answered in time by a service that makes 60 decisions a second. */
const MIN_LIMIT = 16;
const MAX_LIMIT = 2_048;
/**
 * Share of the limit that orgs divide equally among themselves; all newcomers together count as one org. The remaining
 * places are for orgs that have less than their part, so that no flood excludes all others.
 */
const SHARE = 0.75;
/**
 * Bursts within this time of each other are one crowd. As long as the best rate is remembered, so that a flood in
 * bursts is recognised. `SETTLES_MS`: time in which a new crowd is no evidence.
 */
const SAME_CROWD_MS = 5_000;
const SETTLES_MS = 1_500;
/** Refusals within this time of each other belong to one overload. */
const CALM_MS = 5_000;
const MAX_RETRY_AFTER_SECONDS = 8;

/** Evidence from a request that has ended. */
export interface Leaving {
  /** Number of decisions that were made for the request: 0 if the service failed or refused it. */
  readonly decisions: number;
  /** True: its duration says something about this service. */
  readonly isSample: boolean;
  /**
   * True: it stored a decision. Refused, repeated and dry-run requests do not show how quick a stored decision can be.
   */
  readonly hasStored: boolean;
  /** Time at which the whole request had been received; until then the service waits for its sender. */
  readonly receivedAtMs: number;
}

interface Sample {
  readonly beganAtMs: number;
  readonly leftAtMs: number;
  /** Number of requests under way when it was admitted, itself included. */
  readonly place: number;
  readonly wasUsedUp: boolean;
  readonly hasStored: boolean;
}

const ONE: Leaving = { decisions: 1, isSample: true, hasStored: true, receivedAtMs: 0 };

export class Admission {
  #limit = MAX_LIMIT;
  #underWay = 0;
  readonly #byShare = new Map<string, number>();
  readonly #quickestMs = new WindowedExtremum(QUICKEST_WINDOW_MS, Number.POSITIVE_INFINITY, Math.min);
  #quickestAtMs = Number.NEGATIVE_INFINITY;
  readonly #rate = new WindowedRate(RATE_WINDOW_MS, BEST_RATE_WINDOW_MS);
  readonly #sustainedRate = new WindowedRate(SUSTAINED_WINDOW_MS, BEST_SUSTAINED_WINDOW_MS);
  readonly #late = new WindowedShare();
  #cutAtMs = Number.NEGATIVE_INFINITY;
  /** The limit is cut to this share of what the best rate allows. */
  #cutFactor = 1;
  #refused = 0;
  #calmWindows = 0;
  #overloadedSinceMs = 0;
  #refusedAtMs = Number.NEGATIVE_INFINITY;
  #crowdedSinceMs = Number.POSITIVE_INFINITY;
  #crowdedAtMs = Number.NEGATIVE_INFINITY;

  get limit(): number {
    return Math.floor(this.#limit);
  }

  /**
   * Admits a request, or throws 503. Returns the function to call once, with the present time, when the request has
   * ended. Times are monotonic, in milliseconds.
   */
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

  #learn(sample: Sample): void {
    const { beganAtMs, leftAtMs } = sample;
    const isSettled = beganAtMs - this.#crowdedSinceMs >= SETTLES_MS;
    this.#noteLatency(sample, isSettled);
    const lateMs = this.#lateMs(leftAtMs);
    const isLate = leftAtMs - beganAtMs > lateMs;
    // A request from before the last cut is late because of others that were admitted before it.
    const isEvidence = isSettled && beganAtMs >= this.#cutAtMs;
    if (isEvidence) this.#late.add(isLate);
    if (!isLate) this.#grow(sample, lateMs);
    else if (isEvidence && this.#late.share() > QUEUE_SHARE) this.#cut(sample, lateMs);
  }

  #noteLatency({ beganAtMs, leftAtMs, place, hasStored }: Sample, isSettled: boolean): void {
    if (!hasStored) return;
    const tookMs = leftAtMs - beganAtMs;
    if (place <= MIN_LIMIT) {
      // The request's own time is its duration less the time that the requests before it need at the present rate.
      const perMs = isSettled ? this.#rate.best(leftAtMs) : 0;
      const ownMs = perMs === 0 ? tookMs : Math.max(0, tookMs - (place - 1) / perMs);
      this.#quickestMs.add(ownMs, leftAtMs);
      this.#quickestAtMs = leftAtMs;
    } else if (tookMs < this.#quickestMs.at(leftAtMs)) this.#quickestMs.add(tookMs, leftAtMs);
  }

  #grow({ beganAtMs, leftAtMs, wasUsedUp }: Sample, lateMs: number): void {
    if (!wasUsedUp || leftAtMs - beganAtMs > lateMs - LATE_MS / 2) return;
    this.#limit = Math.min(MAX_LIMIT, this.#limit + Math.max(1, this.#limit / 4) / this.#limit);
  }

  #cut({ beganAtMs, leftAtMs, place }: Sample, lateMs: number): void {
    const isStillLate = beganAtMs < this.#cutAtMs + CUT_SHOWS_MS;
    if (isStillLate) this.#cutFactor = Math.max(MIN_CUT_FACTOR, this.#cutFactor * CUT_FACTOR_DECREASE);
    const limit = Math.max(MIN_LIMIT, this.#answeredIn(lateMs * this.#cutFactor, leftAtMs));
    // The new limit would admit this request too: one isolated delay, not a queue.
    if (place <= limit && !isStillLate) return;
    this.#cutAtMs = leftAtMs;
    this.#late.clear();
    this.#limit = Math.min(this.#limit, limit);
  }

  #lateMs(nowMs: number): number {
    // During overload an old slow sample must not raise the acceptable latency, because the queue would persist.
    const isKnown = this.#refusedAtMs < nowMs - CALM_MS || nowMs - this.#quickestAtMs < QUICKEST_COUNTS_MS;
    return isKnown ? Math.min(LATEST_MS, Math.max(LATE_MS, 2 * this.#quickestMs.at(nowMs))) : LATE_MS;
  }

  #answeredIn(ms: number, nowMs: number): number {
    const present = this.#rate.present(nowMs, MIN_RATE_WINDOW_MS);
    return Math.max(this.#rate.best(nowMs), this.#sustainedRate.best(nowMs), present) * ms;
  }

  #count(nowMs: number, decisions: number): void {
    this.#sustainedRate.add(decisions, nowMs);
    const answered = this.#rate.add(decisions, nowMs);
    if (answered === null) return;
    this.#calmWindows = this.#refused * CALM_SHARE < answered ? this.#calmWindows + 1 : 0;
    this.#refused = 0;
    this.#recover();
    // Takes back a cut that was made before the best rate was known.
    this.#limit = Math.min(
      MAX_LIMIT,
      Math.max(this.#limit, this.#answeredIn(LATE_MS * this.#cutFactor, nowMs)),
    );
  }

  #recover(): void {
    const late = this.#late.share();
    if (this.#calmWindows >= CALM_WINDOWS) this.#cutFactor = 1;
    else if (late === 0 && this.#cutFactor < QUICK_RECOVERY_BELOW) this.#cutFactor *= QUICK_RECOVERY;
    else if (late < FEW_SHARE) this.#cutFactor = Math.min(1, this.#cutFactor * RECOVERY);
    this.#late.nextWindow();
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
