/**
 * The time when a key of the service was in force, which its DID document states beside the key (protocol §8).
 * `svc:validFrom` and `svc:validUntil` are absolute IRIs, so JSON-LD processors need no context for them; `revoked` is
 * the term of Controlled Identifiers 1.0 §2.2.
 */
import { formatTimestamp, type JsonObject, type JsonValue, member, parseUtcTime } from '@svc/codec';

/** Tolerated difference between two clocks whose dates are compared, in milliseconds. */
export const MAX_AHEAD_MS = 300_000;

/** The time when a key was in force: from `fromMs` until before `untilMs`. */
export interface KeyTime {
  /** Milliseconds since the epoch; null if the document sets no bound. */
  readonly fromMs: number | null;
  /** The first instant at which the key is no longer in force; null if there is none. */
  readonly untilMs: number | null;
  /** Another person may have the key and can choose any date, so no date of a signature is trusted. */
  readonly isCompromised: boolean;
}

/** The member of a verification method with the time from which its key is in force, in RFC 3339 UTC. */
export const VALID_FROM = 'svc:validFrom';
/** The member with the time from which the key is no longer in force. */
export const VALID_UNTIL = 'svc:validUntil';
/** The member that marks a key as compromised. */
export const REVOKED = 'revoked';

/** Null if a bound is not an RFC 3339 UTC time: then it is unknown when the key is in force. */
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

/** Why the date alone does not make a signature dated `atMs` valid, as the end of a sentence; null if it does. */
export const findUntimely = ({ fromMs, untilMs, isCompromised }: KeyTime, atMs: number): string | null => {
  if (isCompromised) return 'is compromised, so that no date under it counts';
  if (fromMs !== null && !(atMs >= fromMs)) return `is in force from ${formatTimestamp(fromMs)} on`;
  if (untilMs !== null && !(atMs < untilMs)) return `was in force until ${formatTimestamp(untilMs)}`;
  return null;
};

/** The time in which both hold. */
export const narrowKeyTime = (one: KeyTime, other: KeyTime): KeyTime => ({
  fromMs: narrow(Math.max, one.fromMs, other.fromMs),
  untilMs: narrow(Math.min, one.untilMs, other.untilMs),
  isCompromised: one.isCompromised || other.isCompromised,
});

const narrow = (choose: (a: number, b: number) => number, a: number | null, b: number | null) =>
  a === null || b === null ? (a ?? b) : choose(a, b);
