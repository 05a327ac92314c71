/**
 * Keys of the service that a verifier trusts by themselves. A key alone says nothing of when it was in force: one that ended
 * and leaked later signs for any date, and a document beside what it signed is the forger's own. Nor does it say what it is for:
 * that document may list a receipt key as a status key. So a pin may carry both.
 */
import { parseUtcTime, show } from '@svc/codec';
import { type KeyTime, narrowKeyTime } from './key-time.ts';
import type { KeyPurpose } from './service-keys.ts';

/** A key of which its pinner does not know when it is in force. */
export interface UntimedKey {
  /** `z6Mk…` */
  readonly multikey: string;
  /** What it signs, and it counts for nothing else: Receipts, or checkpoints and attestations. Left out, it counts for either. */
  readonly purpose?: KeyPurpose;
}

/** A key with the time that its pinner knows it to be in force; null is no bound. RFC 3339 in UTC. */
export interface TimedKey extends UntimedKey {
  readonly validFrom: string | null;
  /** The first instant that is no longer in it. */
  readonly validUntil: string | null;
}

/** An Ed25519 Multikey, alone or with what it is for, its time, or both. */
export type PinnedKey = string | UntimedKey | TimedKey;

/** By Multikey; null where the pin says nothing of its time. Throws TypeError for a bound that is no time. */
export const readPinnedKeys = (pins: readonly PinnedKey[]): ReadonlyMap<string, KeyTime | null> => {
  const times = new Map<string, KeyTime | null>();
  for (const pin of pins) {
    const [multikey, time] = typeof pin === 'string' ? [pin, null] : [pin.multikey, timeOf(pin)];
    const known = times.get(multikey) ?? null;
    times.set(multikey, known !== null && time !== null ? narrowKeyTime(known, time) : (known ?? time));
  }
  return times;
};

/** By Multikey; empty where no pin of it says what it is for. Throws TypeError for what is no purpose. */
export const readPinnedPurposes = (
  pins: readonly PinnedKey[],
): ReadonlyMap<string, ReadonlySet<KeyPurpose>> => {
  const purposes = new Map<string, Set<KeyPurpose>>();
  for (const pin of pins) {
    const { multikey, purpose } = typeof pin === 'string' ? { multikey: pin, purpose: undefined } : pin;
    const known = purposes.get(multikey) ?? new Set();
    purposes.set(multikey, purpose === undefined ? known : known.add(readPurpose(purpose)));
  }
  return purposes;
};

const readPurpose = (purpose: unknown): KeyPurpose => {
  if (purpose === 'receipt' || purpose === 'status') return purpose;
  throw new TypeError(`a pinned key is for "receipt" or "status", not ${show(purpose)}`);
};

const isTimed = (pin: UntimedKey | TimedKey): pin is TimedKey => 'validFrom' in pin || 'validUntil' in pin;

const timeOf = (pin: UntimedKey | TimedKey): KeyTime | null =>
  isTimed(pin)
    ? { fromMs: readBound(pin.validFrom), untilMs: readBound(pin.validUntil), isCompromised: false }
    : null;

const readBound = (text: string | null): number | null => {
  if (text === null) return null;
  const ms = parseUtcTime(text);
  if (ms === null)
    throw new TypeError(`a pinned key is in force from or until an RFC 3339 UTC time, not ${show(text)}`);
  return ms;
};
