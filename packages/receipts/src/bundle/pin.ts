/**
 * The verifier's trust anchor, since a file cannot authenticate itself. A DID document or keys authenticate the bundle. A
 * DID alone does not: the keys then come from the bundle, which anybody could have written, and the result says so.
 */

import { failure } from '@svc/codec';
import { encodeMultikey } from '@svc/protocol';
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
      /** Ed25519 Multikeys (`z6Mk…`): every signature must be by one of these. */
      readonly keys: readonly string[];
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
  if ('keys' in pin) {
    for (const { kid, multikey } of signers)
      if (!pin.keys.includes(multikey))
        failures.push(failure('unpinned-key', `${kid} is ${multikey}, which is not pinned`, '/did_document'));
    return [];
  }
  return signers.map(({ kid, multikey }) => ({
    path: '/did_document',
    statement: `${kid} is ${multikey}: compare it with the DID document that the service publishes`,
  }));
};
