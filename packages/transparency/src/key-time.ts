/**
 * When a key of the service was in force, as its DID document says beside the key (protocol §8). `svc:validFrom` and
 * `svc:validUntil` are absolute IRIs, so JSON-LD processors take them without a context of their own; `revoked` is the term
 * of Controlled Identifiers 1.0 §2.2.
 */
import { formatTimestamp, type JsonObject, type JsonValue, member, parseUtcTime } from '@svc/codec';

/** Tolerated difference between two clocks whose dates are compared, in milliseconds. */
export const MAX_AHEAD_MS = 300_000;

/** When a key was in force: from `fromMs` on, until before `untilMs`. */
export interface KeyTime {
  /** Milliseconds since the epoch; null where the document sets no bound. */
  readonly fromMs: number | null;
  /** The first instant that is no longer in it. */
  readonly untilMs: number | null;
  /** Somebody else may have the key and dates as he likes: no date of a signature counts. */
  readonly isCompromised: boolean;
}

/**
 * The member of a verification method that says from when on its key is in force, as an RFC 3339 UTC time.
 */
export const VALID_FROM = 'svc:validFrom';
/** The member that says from when on it is not any more. */
export const VALID_UNTIL = 'svc:validUntil';
/** The member that says that somebody else may have the key. */
export const REVOKED = 'revoked';

/** Null where a bound is no RFC 3339 UTC time: nobody can say when the key is in force. */
export const readKeyTime = (method: JsonObject): KeyTime | null => {
  const fromMs = readBound(member(method, VALID_FROM));
  const untilMs = readBound(member(method, VALID_UNTIL));
  if (fromMs === undefined || untilMs === undefined) return null;
  return { fromMs, untilMs, isCompromised: member(method, REVOKED) !== undefined };
};

const readBound = (value: JsonValue | undefined): number | null | undefined => {
  if (value === undefined) return null;
  return typeof value === 'string' ? (parseUtcTime(value) ?? undefined) : undefined;
};

/** Why a signature that is dated `atMs` does not count by its date alone, as the end of a sentence; null where it does. */
export const findUntimely = ({ fromMs, untilMs, isCompromised }: KeyTime, atMs: number): string | null => {
  if (isCompromised) return 'is compromised, so that no date under it counts';
  if (fromMs !== null && !(atMs >= fromMs)) return `is in force from ${formatTimestamp(fromMs)} on`;
  if (untilMs !== null && !(atMs < untilMs)) return `was in force until ${formatTimestamp(untilMs)}`;
  return null;
};

/** Both must hold. */
export const narrowKeyTime = (one: KeyTime, other: KeyTime): KeyTime => ({
  fromMs: narrow(Math.max, one.fromMs, other.fromMs),
  untilMs: narrow(Math.min, one.untilMs, other.untilMs),
  isCompromised: one.isCompromised || other.isCompromised,
});

const narrow = (choose: (a: number, b: number) => number, a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : choose(a, b);
