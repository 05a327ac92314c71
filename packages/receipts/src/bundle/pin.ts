/**
 * The verifier's trust anchor, since a file cannot authenticate itself. A DID document authenticates the bundle, as do
 * keys with what each is for and the times at which they were in force. Keys alone do not quite: both then come from the bundle's
 * own document, which somebody who has one of the keys, or got hold of it later, can forge. Neither does a DID: the keys
 * themselves then come from the bundle. What is open is among the assumptions of the result.
 */

import { failure } from '@svc/codec';
import { encodeMultikey } from '@svc/protocol';
import { type KeyTime, type PinnedKey, readPinnedKeys, readPinnedPurposes } from '@svc/transparency';
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
      /** Every signature that counts must be by one of these that is for it, in its time. */
      readonly keys: readonly PinnedKey[];
      readonly serviceDid?: string;
    }
  | {
      /** The DID that the bundle's own DID document must be of. Authenticates nothing. */
      readonly serviceDid: string;
    };

/** Throws TypeError if nothing is pinned, or a key for what no key is for: a fault of the caller. */
export const assertPinned = (pin: BundlePin): void => {
  const keys = 'keys' in pin ? pin.keys : [];
  if (!('serviceDidDocument' in pin) && keys.length === 0 && pin.serviceDid === undefined)
    throw new TypeError('a bundle is checked against a pinned DID document, pinned keys or a pinned DID');
  readPinnedPurposes(keys);
};

/** What the pin says of when its keys are in force. Throws TypeError for a bound that is no time. */
export const timesOf = (pin: BundlePin): ReadonlyMap<string, KeyTime | null> =>
  'keys' in pin ? readPinnedKeys(pin.keys) : new Map();

export interface UsedKey {
  readonly kid: string;
  readonly purpose: KeyPurpose;
}

/** A key that signed, as the document has it. */
interface SigningKey extends UsedKey {
  readonly multikey: string;
}

/** Checks that the signing keys are pinned for what they signed; lists what could not be authenticated. */
export const checkPinned = (
  pin: BundlePin,
  keys: ServiceKeys,
  used: readonly UsedKey[],
  failures: Failure<BundleFailureCode>[],
): Assumption[] => {
  if ('serviceDidDocument' in pin) return [];
  const signers = used.flatMap(({ kid, purpose }): SigningKey[] => {
    const key = keys.find(kid, purpose);
    return key instanceof Uint8Array ? [{ kid, purpose, multikey: encodeMultikey(key) }] : [];
  });
  if (!('keys' in pin))
    return signers.map(({ kid, multikey }) =>
      assume(`${kid} is ${multikey}: compare it with the DID document that the service publishes`),
    );
  const pinned = new PinnedKeys(pin.keys);
  for (const signer of signers) {
    const problem = pinned.findProblem(signer, signers);
    if (problem !== null) failures.push(problem);
  }
  return signers.flatMap((signer) => pinned.listOpen(signer));
};

const assume = (statement: string): Assumption => ({ path: '/did_document', statement });

class PinnedKeys {
  readonly #times: ReadonlyMap<string, KeyTime | null>;
  readonly #purposes: ReadonlyMap<string, ReadonlySet<KeyPurpose>>;

  constructor(pins: readonly PinnedKey[]) {
    this.#times = readPinnedKeys(pins);
    this.#purposes = readPinnedPurposes(pins);
  }

  /** Null for a key that is pinned, and not for something else alone. */
  findProblem({ kid, purpose, multikey }: SigningKey, signers: readonly SigningKey[]) {
    const known = this.#purposes.get(multikey);
    if (known !== undefined && isFor(known, purpose)) return null;
    const refuse = (code: BundleFailureCode, problem: string) =>
      failure(code, `${kid} is ${multikey}, which is ${problem}`, '/did_document');
    if (known !== undefined)
      return refuse('unpinned-key', `pinned as a ${[...known].join()} key, not as a ${purpose} key`);
    return this.#areAllUsed(signers)
      ? refuse('missing-key', "not pinned: pin it too, if the service's own DID document has it")
      : refuse('unpinned-key', 'not pinned');
  }

  /** A pinned key that signed nothing stands for another signer than the one that is there. */
  #areAllUsed(signers: readonly SigningKey[]): boolean {
    return [...this.#purposes].every(([pinned, known]) =>
      signers.some(({ multikey, purpose }) => multikey === pinned && isFor(known, purpose)),
    );
  }

  /** What the pin does not say of a key, so that it rests on the bundle's own document. */
  listOpen({ kid, purpose, multikey }: SigningKey): Assumption[] {
    const open = [
      this.#purposes.get(multikey)?.size === 0 ? `is a ${purpose} key: pin it with its purpose` : null,
      this.#times.get(multikey) === null ? 'signed while it was in force: pin it with its time' : null,
    ];
    return open.flatMap((what) =>
      what === null ? [] : [assume(`${kid} (${multikey}) ${what}, or the DID document`)],
    );
  }
}

/** A key that is pinned without what it is for may be for anything. */
const isFor = (known: ReadonlySet<KeyPurpose>, purpose: KeyPurpose): boolean =>
  known.size === 0 || known.has(purpose);
