/**
 * The verifier's trust anchor, since a file cannot authenticate itself. A DID document authenticates the bundle, as do
 * keys with the times at which they were in force. Keys alone do not quite: the times then come from the bundle's own
 * document, which somebody who got hold of a key later can forge. Neither does a DID: the keys themselves then come
 * from the bundle. What is open is among the assumptions of the result.
 */

import { failure } from '@svc/codec';
import { encodeMultikey } from '@svc/protocol';
import { type KeyTime, type PinnedKey, readPinnedKeys } from '@svc/transparency';
import type { KeyPurpose, ServiceKeys } from '@svc/transparency/service-keys';
import type { Assumption } from '../audit/assumed-facts.ts';
import type { Failure } from '../failure.ts';
import type { BundleFailureCode } from './failure.ts';

/** At least one of the three. */
export type BundlePin =
  | {
      /** The service's DID document, an object or its text: takes the place of the one in the bundle. */
      readonly serviceDidDocument: unknown;
      readonly serviceDid?: string;
    }
  | {
      /** Every signature that counts must be by one of these, in its time. */
      readonly keys: readonly PinnedKey[];
      readonly serviceDid?: string;
    }
  | {
      /** The DID that the bundle's own DID document must be of. Authenticates nothing. */
      readonly serviceDid: string;
    };

/** Throws TypeError if nothing is pinned: a fault of the caller. */
export const assertPinned = (pin: BundlePin): void => {
  const keys = 'keys' in pin ? pin.keys : [];
  if (!('serviceDidDocument' in pin) && keys.length === 0 && pin.serviceDid === undefined)
    throw new TypeError('a bundle is checked against a pinned DID document, pinned keys or a pinned DID');
};

/** What the pin says of when its keys are in force. Throws TypeError for a bound that is no time. */
export const timesOf = (pin: BundlePin): ReadonlyMap<string, KeyTime | null> =>
  'keys' in pin ? readPinnedKeys(pin.keys) : new Map();

export interface UsedKey {
  readonly kid: string;
  readonly purpose: KeyPurpose;
}

/** Checks that the signing keys are pinned; lists what could not be authenticated. */
export const checkPinned = (
  pin: BundlePin,
  keys: ServiceKeys,
  used: readonly UsedKey[],
  failures: Failure<BundleFailureCode>[],
): Assumption[] => {
  if ('serviceDidDocument' in pin) return [];
  const signers = used.flatMap(({ kid, purpose }) => {
    const key = keys.find(kid, purpose);
    return key instanceof Uint8Array ? [{ kid, multikey: encodeMultikey(key) }] : [];
  });
  const isPinned = 'keys' in pin;
  const times = timesOf(pin);
  // A pinned key that signed nothing stands for another signer than the one that is there.
  const areAllUsed = [...times.keys()].every((pinned) => signers.some(({ multikey }) => multikey === pinned));
  const [code, remedy] = areAllUsed
    ? (['missing-key', ": pin it too, if the service's own DID document has it"] as const)
    : (['unpinned-key', ''] as const);
  return signers.flatMap(({ kid, multikey }) => {
    const time = times.get(multikey);
    if (isPinned && time === undefined)
      failures.push(failure(code, `${kid} is ${multikey}, which is not pinned${remedy}`, '/did_document'));
    if (isPinned && time !== null) return [];
    const statement = isPinned
      ? `${kid} (${multikey}) signed while it was in force: pin it with its time, or the DID document`
      : `${kid} is ${multikey}: compare it with the DID document that the service publishes`;
    return [{ path: '/did_document', statement }];
  });
};
