/**
 * The verifier's trust anchor, since a file cannot authenticate itself. How much is authenticated depends on what is
 * pinned:
 *
 * - a DID document, or keys with their purposes and the times when they were in force: the whole bundle;
 * - keys alone: not their purposes and times, which then come from the bundle's own document. A person who holds one of
 *   the keys, or obtained it later, can forge that document;
 * - a DID alone: nothing, since the keys themselves then come from the bundle.
 *
 * The result lists under `assumed` what is not authenticated.
 */

import { failure } from '@svc/codec';
import { encodeMultikey } from '@svc/protocol';
import { type KeyTime, type PinnedKey, readPinnedKeys, readPinnedPurposes } from '@svc/transparency';
import type { KeyPurpose, ServiceKeys } from '@svc/transparency/service-keys';
import type { Assumption } from '../audit/assumed-facts.ts';
import type { Failure } from '../failure.ts';
import type { BundleFailureCode } from './failure.ts';

/** The trust anchor: at least one of a DID document, keys and a DID. */
export type BundlePin =
  | {
      /** The service's DID document, an object or its text. It replaces the one in the bundle. */
      readonly serviceDidDocument: unknown;
      readonly serviceDid?: string;
    }
  | {
      /** Every signature that is relied on must be by one of these keys, for its purpose and in its time. */
      readonly keys: readonly PinnedKey[];
      readonly serviceDid?: string;
    }
  | {
      /** The DID of the bundle's own DID document. Authenticates nothing. */
      readonly serviceDid: string;
    };

/** Throws TypeError if nothing is pinned, or a key is pinned for an unknown purpose: an error of the caller. */
export const assertPinned = (pin: BundlePin): void => {
  const keys = 'keys' in pin ? pin.keys : [];
  if (!('serviceDidDocument' in pin) && keys.length === 0 && pin.serviceDid === undefined)
    throw new TypeError('a bundle is checked against a pinned DID document, pinned keys or a pinned DID');
  readPinnedPurposes(keys);
};

/** The times given in the pin at which its keys are in force. Throws TypeError if a bound is not a time. */
export const timesOf = (pin: BundlePin): ReadonlyMap<string, KeyTime | null> =>
  'keys' in pin ? readPinnedKeys(pin.keys) : new Map();

export interface UsedKey {
  readonly kid: string;
  readonly purpose: KeyPurpose;
}

/** A key that signed, as the DID document has it. */
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

  /** Null if the key is pinned for this purpose, or without a purpose. */
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

  /**
   * Whether every pinned key signed. If one did not, the unpinned signer may have taken its place, so the failure is
   * `unpinned-key` and not `missing-key`.
   */
  #areAllUsed(signers: readonly SigningKey[]): boolean {
    return [...this.#purposes].every(([pinned, known]) =>
      signers.some(({ multikey, purpose }) => multikey === pinned && isFor(known, purpose)),
    );
  }

  /** What the pin does not say of a key and is therefore taken from the bundle's own document. */
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

/** A key that is pinned without a purpose may have any. */
const isFor = (known: ReadonlySet<KeyPurpose>, purpose: KeyPurpose): boolean =>
  known.size === 0 || known.has(purpose);
