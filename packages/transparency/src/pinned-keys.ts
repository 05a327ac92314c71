/**
 * Keys of the service that a verifier trusts without a DID document. A key alone does not say when it was in force: a
 * key that ended and leaked later can sign for any date, and a document that comes with the signed text may be the
 * forger's. Nor does a key alone say its purpose: such a document may list a receipt key as a status key. So a pin can
 * contain both.
 */
import { parseUtcTime, show } from '@svc/codec';
import { type KeyTime, narrowKeyTime } from './key-time.ts';
import type { KeyPurpose } from './service-keys.ts';

/** A key whose time in force is not pinned. */
export interface UntimedKey {
  /** `z6Mk…` */
  readonly multikey: string;
  /**
   * What the key signs: Receipts, or checkpoints and attestations. It is refused for anything else. If absent, the key
   * is accepted for both.
   */
  readonly purpose?: KeyPurpose;
}

/** A key with the pinned time in which it is in force, in RFC 3339 UTC; null is no bound. */
export interface TimedKey extends UntimedKey {
  readonly validFrom: string | null;
  /** The first instant at which the key is no longer in force. */
  readonly validUntil: string | null;
}

/** An Ed25519 Multikey, alone or with its purpose, its time, or both. */
export type PinnedKey = string | UntimedKey | TimedKey;

/** Times by Multikey; null if no time is pinned. Throws TypeError if a bound is not a time. */
export const readPinnedKeys = (pins: readonly PinnedKey[]): ReadonlyMap<string, KeyTime | null> => {
  const times = new Map<string, KeyTime | null>();
  for (const pin of pins) {
    const [multikey, time] = typeof pin === 'string' ? [pin, null] : [pin.multikey, timeOf(pin)];
    const known = times.get(multikey) ?? null;
    times.set(multikey, known !== null && time !== null ? narrowKeyTime(known, time) : (known ?? time));
  }
  return times;
};

/** Purposes by Multikey; empty if no pin of the key has a purpose. Throws TypeError for an unknown purpose. */
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
