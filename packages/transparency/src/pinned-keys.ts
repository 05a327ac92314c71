/**
 * Keys of the service that a verifier trusts by themselves. A key alone says nothing of when it was in force: one that ended
 * and leaked later signs for any date, and a document beside what it signed is the forger's own. So a pin may carry the time.
 */
import { parseUtcTime, show } from '@svc/codec';
import { type KeyTime, narrowKeyTime } from './key-time.ts';

/** A key with the time that its pinner knows it to be in force; null is no bound. RFC 3339 in UTC. */
export interface TimedKey {
  /** `z6Mk…` */
  readonly multikey: string;
  readonly validFrom: string | null;
  /** The first instant that is no longer in it. */
  readonly validUntil: string | null;
}

/** An Ed25519 Multikey, alone or with its time. */
export type PinnedKey = string | TimedKey;

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

const timeOf = ({ validFrom, validUntil }: TimedKey): KeyTime => ({
  fromMs: readBound(validFrom),
  untilMs: readBound(validUntil),
  isCompromised: false,
});

const readBound = (text: string | null): number | null => {
  if (text === null) return null;
  const ms = parseUtcTime(text);
  if (ms === null)
    throw new TypeError(`a pinned key is in force from or until an RFC 3339 UTC time, not ${show(text)}`);
  return ms;
};
