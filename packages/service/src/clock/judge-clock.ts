/**
 * Decides whether a reading of the database's clock is accepted (protocol §10). Decisions are dated by that clock, and
 * the service cannot reopen a day that it has closed. Therefore a single reading never moves the process's time by more
 * than 2 s. All readings of an hour together move it by no more than 5 s, unless the node's wall clock shows the change
 * too.
 *
 * A reading is compared with:
 *
 * - the last accepted reading, extrapolated by the monotonic clock;
 * - a reading of the last hour;
 * - the wall clock;
 * - the deployment's high-water mark.
 */
import { TRUST_CONFIG } from '@svc/protocol';
import type { ClockReading } from '../ports/clock.ts';

/** A reading with the node's clocks. `sentMs` and `receivedMs` are monotonic; `uptimeMs` also advances during suspend. */
export interface Sighting extends ClockReading {
  readonly sentMs: number;
  readonly receivedMs: number;
  readonly uptimeMs: number;
  readonly nodeMs: number;
}

interface Moment {
  readonly databaseMs: number;
  readonly monotonicMs: number;
  readonly uptimeMs: number;
}

/** The last accepted reading. */
export interface Reference extends Moment {
  /** An accepted reading of the last hour, from which deviations are added up. */
  readonly anchor: Moment;
  /** `ClockMark.resets` at the last accepted reading. */
  readonly resets: number;
}

/** A step that has not been accepted. */
export interface Doubt {
  readonly offByMs: number;
  /** Monotonic time since which the deviation has been the same. */
  readonly sinceMs: number;
  /** Upper bound of the times in use before the step was detected. */
  readonly usedUntilMs: number;
  readonly reason: string;
}

export type Judgement =
  | { readonly kind: 'accepted'; readonly reference: Reference }
  | { readonly kind: 'doubted'; readonly doubt: Doubt };

/** Deviations up to this are accepted at once: the commit accepts decisions up to 2 s old. */
const JUMP_MS = 2_000;
/** Two clocks within the skew of protocol §7 agree. */
const AGREE_MS = TRUST_CONFIG.clockSkewSeconds * 1_000;
/** Period over which deviations below a jump are added up. */
const ANCHOR_LASTS_MS = 3_600_000;
/** A mark at most this old proves that another process has a valid time. */
const MARK_FRESH_MS = 60_000;
/** A step that both wall clocks show is accepted after this long; a forward step only up to this size. */
const LASTING_MS = 30_000;
const MAX_FORWARD_MS = 300_000;

/**
 * `reference`: null before the first accepted reading. `doubt`: the result of the previous reading if that was not
 * accepted.
 */
export const judgeClock = (
  sighting: Sighting,
  reference: Reference | null,
  doubt: Doubt | null,
): Judgement => {
  if (reference === null) return judgeFirst(sighting);
  const isOperatorReset = (sighting.mark?.resets ?? 0) !== reference.resets && isNear(sighting);
  if (isOperatorReset) return accept(sighting);
  const jumpMs = offBy(sighting, reference);
  const driftMs = offBy(sighting, reference.anchor);
  const isJump = Math.abs(jumpMs) > JUMP_MS;
  if (!isJump && Math.abs(driftMs) <= AGREE_MS) return accept(sighting, anchorAfter(sighting, reference));
  // A slow correction by more than the skew is accepted when this node's clock shows it too.
  if (!isJump && agrees(sighting)) return accept(sighting);
  const offByMs = isJump ? jumpMs : driftMs;
  const isSame = doubt !== null && Math.abs(offByMs - doubt.offByMs) <= JUMP_MS;
  const sinceMs = isSame ? doubt.sinceMs : sighting.receivedMs;
  const usedUntilMs =
    doubt?.usedUntilMs ?? reference.databaseMs + (sighting.receivedMs - reference.monotonicMs);
  const found = { offByMs, sinceMs, usedUntilMs };
  if (hasProvenItself(sighting, found)) return accept(sighting);
  return { kind: 'doubted', doubt: { ...found, reason: describe(sighting, found) } };
};

const accept = (sighting: Sighting, anchor: Moment = momentOf(sighting)): Judgement => ({
  kind: 'accepted',
  reference: { ...momentOf(sighting), anchor, resets: sighting.mark?.resets ?? 0 },
});

const momentOf = ({ databaseMs, receivedMs, uptimeMs }: Sighting): Moment => ({
  databaseMs,
  monotonicMs: receivedMs,
  uptimeMs,
});

const anchorAfter = (sighting: Sighting, { anchor }: Reference): Moment =>
  sighting.uptimeMs - anchor.uptimeMs < ANCHOR_LASTS_MS ? anchor : momentOf(sighting);

/** At start the node's clock must agree, or another process must have advanced the mark within the last minute. */
const judgeFirst = (sighting: Sighting): Judgement => {
  const { databaseMs, mark, receivedMs } = sighting;
  const isBehind = mark !== null && databaseMs < mark.atMs - JUMP_MS;
  if (!isBehind && (agrees(sighting) || isNear(sighting))) return accept(sighting);
  const usedUntilMs = mark?.atMs ?? databaseMs;
  const found = { offByMs: databaseMs - usedUntilMs, sinceMs: receivedMs, usedUntilMs };
  const reason = isBehind
    ? describe(sighting, found)
    : `${differs(sighting)}, and no other process has set the time`;
  return { kind: 'doubted', doubt: { ...found, reason } };
};

/**
 * How far the reading is off, in milliseconds; negative when it is behind. The reading was taken between `sentMs` and
 * `receivedMs`; time in suspend counts as elapsed.
 */
const offBy = ({ databaseMs, sentMs, receivedMs, uptimeMs }: Sighting, reference: Moment): number => {
  const earliestMs = reference.databaseMs + (sentMs - reference.monotonicMs);
  const passedMs = Math.max(receivedMs - reference.monotonicMs, uptimeMs - reference.uptimeMs);
  const latestMs = reference.databaseMs + passedMs;
  if (databaseMs < earliestMs) return databaseMs - earliestMs;
  return databaseMs > latestMs ? databaseMs - latestMs : 0;
};

const agrees = ({ databaseMs, nodeMs }: Sighting): boolean => Math.abs(databaseMs - nodeMs) <= AGREE_MS;

const isNear = ({ databaseMs, mark }: Sighting): boolean =>
  mark !== null && databaseMs >= mark.atMs - JUMP_MS && databaseMs <= mark.atMs + MARK_FRESH_MS;

/**
 * True when a doubted step can be accepted. The node's clock must agree. After a step back, time resumes only above all
 * times already used.
 */
const hasProvenItself = (
  sighting: Sighting,
  { offByMs, sinceMs, usedUntilMs }: Omit<Doubt, 'reason'>,
): boolean =>
  agrees(sighting) &&
  sighting.receivedMs - sinceMs >= LASTING_MS &&
  (offByMs < 0 ? sighting.databaseMs >= usedUntilMs : offByMs <= MAX_FORWARD_MS);

const describe = (sighting: Sighting, { offByMs, usedUntilMs }: Omit<Doubt, 'reason'>): string => {
  const way = offByMs < 0 ? 'back' : 'ahead';
  const step = `the database's clock is ${seconds(offByMs)} ${way} of where it must be`;
  if (!agrees(sighting)) return `${step}; ${differs(sighting)}`;
  if (offByMs < 0)
    return `${step}; decisions wait until it has passed ${new Date(usedUntilMs).toISOString()}, or for svc-admin clock`;
  return offByMs <= MAX_FORWARD_MS
    ? `${step}, and so is this node's; accepted once that has lasted ${LASTING_MS / 1000} s`
    : `${step}, and so is this node's; that is for an operator to confirm (svc-admin clock)`;
};

const differs = ({ databaseMs, nodeMs }: Sighting): string =>
  `the database's clock and this node's differ by ${seconds(databaseMs - nodeMs)}`;

const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 100) / 10} s`;
