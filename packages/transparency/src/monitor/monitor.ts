/**
 * One run over a service's checkpoints (protocol §12). The run persists each signed checkpoint before it requests the
 * leaves, and the service must serve that checkpoint unchanged for ever. New days must continue the chain, and their
 * leaves must have their roots. A day's root does not depend on earlier days, so the chain alone does not reveal a
 * rewritten older day. The run therefore fetches known days again.
 *
 * A checkpoint takes effect at its `iat`. A checkpoint dated in the future was signed by a clock that is ahead. The run
 * does not persist it, and until then the service may retract it. If the latest checkpoint is only a little ahead, a
 * later run takes it.
 */

import type { CryptoPort } from '@svc/codec';
import { DAY_MS, dayOf, dayStartMs, parseDidWeb } from '@svc/codec';
import type { Sha256 } from '@svc/merkle';
import { findChainBreak } from '../checkpoint/chain.ts';
import { dayAfter } from '../checkpoint/day.ts';
import type { Checkpoint } from '../checkpoint/payload.ts';
import { MAX_AHEAD_MS } from '../key-time.ts';
import type { Alarm, Doubt } from './finding.ts';
import { distinct, Findings } from './findings.ts';
import { checkLeaves, leavesPath } from './leaves.ts';
import { listPinDoubts, type MonitorPin } from './pin.ts';
import { type CheckpointFetch, fetchCheckpoint, type Published } from './published.ts';
import { comparePublishedKeys } from './published-keys.ts';
import type { Seen, SeenDay } from './seen.ts';
import type { Source } from './source.ts';

/** The inputs of a run of the monitor. Clock, state and transport are passed in; the run reads nothing else. */
export interface MonitorOptions {
  readonly source: Source;
  /** Scheme and host. If it is the DID's own host, its DID document is compared with the pin. */
  readonly origin: string;
  readonly pin: MonitorPin;
  readonly crypto: CryptoPort;
  readonly sha256: Sha256;
  /** The state after the previous run; empty at first. */
  readonly seen: Seen;
  /** Selects the known days to fetch again. */
  readonly choose: (days: readonly SeenDay[]) => readonly SeenDay[];
  /** Where the first run begins. Null: the service's first day. */
  readonly since: string | null;
  /**
   * Persists the state; called after every change. On failure it must not throw but abort `stop`: otherwise the run
   * rejects and its findings are lost.
   */
  readonly remember: (seen: Seen) => void;
  /** Called with a short description of the current step. */
  readonly onProgress: (what: string) => void;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
  /** The run starts no request once this is aborted. */
  readonly stop: AbortSignal;
}

/**
 * The result of one run of the monitor. An alarm is a broken promise; a doubt is something that could not be checked.
 */
export interface Look {
  readonly alarms: readonly Alarm[];
  readonly doubts: readonly Doubt[];
  /** Information without an alarm. */
  readonly notes: readonly string[];
  readonly seen: Seen;
  /** Whether the service has a latest checkpoint; `unknown` if there was no valid answer. */
  readonly latest: 'found' | 'absent' | 'unknown';
  readonly newDays: number;
  readonly fetchedAgain: number;
}

/** Runs once. No answer of the service makes this reject. */
export const lookAtCheckpoints = (options: MonitorOptions): Promise<Look> => new Monitor(options).look();

const STOPPED: Doubt = { path: '/checkpoints', message: 'the monitor was stopped before the end' };
/** 100 years. */
const MAX_DAYS = 36_525;

class Monitor {
  readonly #found = new Findings();
  readonly #seen: SeenDay[];
  #latest: Look['latest'] = 'unknown';
  #newDays = 0;
  #fetchedAgain = 0;

  constructor(private readonly options: MonitorOptions) {
    this.#seen = [...options.seen];
  }

  async look(): Promise<Look> {
    const known = [...this.#seen];
    // Comes first, because the rest is checked under the pin and may take hours.
    const pinned = this.options.pin.serviceDid ?? this.#seen.at(-1)?.checkpoint.iss ?? null;
    const early =
      pinned === null ? null : await comparePublishedKeys({ ...this.options, serviceDid: pinned });
    const latest = await this.#findLatest(known);
    for (const day of this.options.choose(known)) if (!this.options.stop.aborted) await this.#fetchAgain(day);
    if (latest !== null) await this.#follow(latest);
    await this.#checkLeaves();
    const serviceDid = this.#seen.at(-1)?.checkpoint.iss ?? null;
    const keys = early ?? (await comparePublishedKeys({ ...this.options, serviceDid }));
    const stopped = this.options.stop.aborted ? [STOPPED] : [];
    return {
      alarms: distinct([...this.#found.alarms, ...keys.alarms]),
      doubts: [
        ...this.#found.doubts,
        ...keys.doubts,
        ...listPinDoubts(this.options.pin),
        ...(this.#seen.length > 0 || keys.wasAsked || this.options.stop.aborted ? [] : [this.#notHeld()]),
        ...stopped,
      ],
      notes: [...keys.notes, ...this.#describeDelay()],
      seen: this.#seen,
      latest: this.#latest,
      newDays: this.#newDays,
      fetchedAgain: this.#fetchedAgain,
    };
  }

  /** Nothing was compared with the pin. If the pin is of another service, that is detected once a day is closed. */
  #notHeld(): Doubt {
    const { pin, origin } = this.options;
    const noDay = this.#latest === 'absent' ? 'no day is closed, and ' : '';
    const why =
      pin.serviceDid === null
        ? 'it names no service, whose DID document could be compared with it'
        : `it is of ${pin.serviceDid}, whose DID document is not asked for at another address: ${describeHost(new URL(origin).host)}`;
    return { path: '/checkpoints/latest', message: `${noDay}nothing was held against the pin: ${why}` };
  }

  /**
   * A service that no longer closes days raises no alarm, but also publishes nothing that can be checked. So a note
   * reports it.
   */
  #describeDelay(): readonly string[] {
    const day = this.#seen.at(-1)?.checkpoint.day;
    if (day === undefined) return [];
    const days = Math.floor((this.options.nowMs - dayStartMs(day)) / DAY_MS) - 1;
    return days < 2 ? [] : [`${days} days have ended since ${day}, the latest that is published`];
  }

  /** The latest checkpoint; null if there is no valid one. */
  async #findLatest(known: Seen): Promise<Published | null> {
    const found = await this.#fetch('latest');
    const last = known.at(-1);
    if (found.kind === 'found' || found.kind === 'absent') this.#latest = found.kind;
    if (found.kind === 'absent' && last !== undefined) await this.#findRollback(last, null);
    if (found.kind !== 'found') return null;
    const { day } = found.checkpoint;
    if (last !== undefined && day < last.checkpoint.day) await this.#findRollback(last, found);
    const before = known.find(({ checkpoint }) => checkpoint.day === day);
    if (before !== undefined) this.#found.differences(before, found);
    return found;
  }

  /**
   * A cache may serve an older latest day for a while. So this is an alarm only if the known day is no longer served.
   */
  async #findRollback(last: SeenDay, latest: Published | null): Promise<void> {
    const { day } = last.checkpoint;
    if (await this.#fetchAgain(last))
      this.#found.doubt('latest', `it is older than ${day}, which was seen and is still there`);
    else this.#found.rolledBack(last, latest);
  }

  /** Reports an invalid or missing answer as an alarm or a doubt. */
  async #fetch(day: string): Promise<CheckpointFetch> {
    if (this.options.stop.aborted) return { kind: 'unknown', message: STOPPED.message };
    this.options.onProgress(`checkpoint of ${day}`);
    const found = await fetchCheckpoint(this.options, day);
    if (found.kind === 'unknown') return this.#unknown(day, found.message);
    if (found.kind === 'found' && this.#isAhead(found, MAX_AHEAD_MS))
      return this.#unknown(day, futureOf(found));
    if (found.kind === 'wrong')
      this.#found.wrongCheckpoint(
        day,
        found,
        this.#seen.find(({ checkpoint }) => checkpoint.day === day),
      );
    return found;
  }

  #unknown(day: string, message: string): CheckpointFetch {
    this.#found.doubt(day, message);
    return { kind: 'unknown', message };
  }

  /** False only if the day has verifiably changed: absent, different or invalid. */
  async #fetchAgain(before: SeenDay): Promise<boolean> {
    const found = await this.#fetch(before.checkpoint.day);
    if (found.kind === 'found' || found.kind === 'absent') this.#fetchedAgain += 1;
    if (found.kind === 'absent') this.#found.vanished(before);
    if (found.kind === 'found') return !this.#found.differences(before, found);
    return found.kind === 'unknown';
  }

  /** Fetches the new days up to the latest. Stops at the first day that is missing or breaks the chain. */
  async #follow(latest: Published): Promise<void> {
    const last = this.#seen.at(-1);
    if (last !== undefined && latest.checkpoint.day <= last.checkpoint.day) return;
    for (const next of last === undefined ? await this.#walkBack(latest) : this.#daysUntil(latest, last)) {
      const isLatest = (typeof next === 'string' ? next : next.checkpoint.day) === latest.checkpoint.day;
      if (isLatest && this.#isAhead(latest)) {
        // Reported once the day after it has ended: a checkpoint that is signed anew with a future date for each run
        // would otherwise never be persisted, without a report.
        if (dayStartMs(dayAfter(dayAfter(latest.checkpoint.day))) <= this.options.nowMs)
          this.#unknown(latest.checkpoint.day, futureOf(latest));
        return;
      }
      const published = typeof next === 'string' ? await this.#fetchNew(next) : next;
      if (published === null) return;
      if (isLatest && this.#found.differences(latest, published)) return;
      if (!this.#isNext(published)) return;
      this.#seen.push({ ...published, isWhole: false });
      this.#newDays += 1;
      this.options.remember([...this.#seen]);
    }
  }

  *#daysUntil(latest: Published, last: SeenDay): Generator<string> {
    let { day } = last.checkpoint;
    while (day < latest.checkpoint.day) {
      day = dayAfter(day);
      yield day;
    }
  }

  async #fetchNew(day: string): Promise<Published | null> {
    const found = await this.#fetch(day);
    if (found.kind === 'absent') this.#found.missing(day);
    if (found.kind !== 'found') return null;
    if (!this.#isAhead(found)) return found;
    this.#unknown(day, futureOf(found));
    return null;
  }

  /** Whether the checkpoint is dated in the future, so that the service may still retract it. */
  #isAhead({ checkpoint }: Published, byMs = 0): boolean {
    return checkpoint.iat * 1000 > this.options.nowMs + byMs;
  }

  /**
   * All days from the service's first one, or from `since`, to the latest, in ascending order. Empty unless all were
   * fetched.
   */
  async #walkBack(latest: Published): Promise<readonly Published[]> {
    const { since } = this.options;
    if (since !== null && latest.checkpoint.day < since) return [];
    const days: Published[] = [];
    let current: Published | null = latest;
    while (current !== null) {
      days.push(current);
      const { day, previous_root: previousRoot }: Checkpoint = current.checkpoint;
      if (previousRoot === null || day === since) return days.reverse();
      if (days.length === MAX_DAYS)
        this.#found.doubt(day, `more than ${MAX_DAYS} days lead back from the latest`);
      current = days.length === MAX_DAYS ? null : await this.#fetchNew(dayBefore(day));
    }
    return [];
  }

  #isNext(published: Published): boolean {
    const last = this.#seen.at(-1);
    if (last === undefined) return true;
    const broken = findChainBreak([last.checkpoint, published.checkpoint]);
    if (broken !== null) this.#found.brokenChain(last, published, broken);
    return broken === null;
  }

  /**
   * Checks the leaves of every day whose leaves have not been verified yet, the smallest first: a day that takes longer
   * than a look may last keeps no other day from being read.
   */
  async #checkLeaves(): Promise<void> {
    const unread = [...this.#seen.entries()].filter(([, { isWhole }]) => !isWhole);
    for (const [i, seen] of unread.sort(bySize)) {
      const { day, tree_size: size } = seen.checkpoint;
      if (this.options.stop.aborted) return;
      this.options.onProgress(`${size} leaves of ${day}`);
      const verdict = await checkLeaves(this.options.source, seen.checkpoint, this.options.sha256);
      if (verdict.kind === 'unknown')
        this.#found.doubts.push({ path: leavesPath(day), message: verdict.message });
      if (verdict.kind === 'wrong') this.#found.wrongLeaves(seen, verdict);
      if (verdict.kind !== 'whole') continue;
      this.#seen[i] = { ...seen, isWhole: true };
      this.options.remember([...this.#seen]);
    }
  }
}

const bySize = ([, one]: [number, SeenDay], [, other]: [number, SeenDay]): number =>
  one.checkpoint.tree_size - other.checkpoint.tree_size;

const describeHost = (host: string): string => {
  const did = `did:web:${host.replace(/:(?=[0-9]+$)/, '%3A')}`;
  return parseDidWeb(did) === null ? `no did:web DID is of ${host}` : `${host} would be ${did}`;
};

const futureOf = ({ checkpoint }: Published): string =>
  `the checkpoint of ${checkpoint.day} is dated in the future and not in effect yet`;

const dayBefore = (day: string): string => dayOf(dayStartMs(day) - DAY_MS);
