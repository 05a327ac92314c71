/**
 * The trust anchor of the monitor: a DID document or keys obtained over a trusted channel. Nothing that the service serves
 * extends it.
 */

import { type CryptoPort, decodeMultikey, failure, show } from '@svc/codec';
import type { SignedCheckpoint } from '../checkpoint/jws.ts';
import { findUntimely, type KeyTime } from '../key-time.ts';
import { type PinnedKey, readPinnedKeys } from '../pinned-keys.ts';
import { openServiceKeys, type ServiceKeyFailure, type ServiceSignature } from '../service-keys.ts';

/** `signedAtMs` is null where the monitor has seen it before: it was in force then, whatever became of its key since. */
export type CheckedCheckpoint = Omit<SignedCheckpoint, 'signedAtMs'> & Pick<ServiceSignature, 'signedAtMs'>;

/** What the monitor trusts from before: a DID document, or keys alone. */
export interface MonitorPin {
  /** Null: taken from the first checkpoint. */
  readonly serviceDid: string | null;
  /** Null if the signature is by a pinned key, and of its time. */
  check(signed: CheckedCheckpoint): ServiceKeyFailure | null;
  /** Every pinned key as a Multikey, with its kid if that is pinned too. */
  readonly keys: readonly { readonly kid: string | null; readonly multikey: string }[];
}

type Pinned =
  | { readonly ok: true; readonly pin: MonitorPin }
  | { readonly ok: false; readonly problem: string };

const refuse = (problem: string): Pinned => ({ ok: false, problem });

/** A DID document, an object or its text. */
export const pinDocument = (
  document: unknown,
  serviceDid: string | undefined,
  crypto: CryptoPort,
): Pinned => {
  const failures: ServiceKeyFailure[] = [];
  const keys = openServiceKeys(document, failures, serviceDid);
  const [wrong] = failures;
  if (wrong !== undefined || keys === null) return refuse(wrong?.message ?? 'it cannot be read');
  return {
    ok: true,
    pin: {
      serviceDid: keys.did,
      keys: keys.list(),
      check: (signed) => keys.check('status', signed, crypto),
    },
  };
};

/** Each alone, or with its time, outside which nothing that is dated by it counts. */
export const pinKeys = (
  pins: readonly PinnedKey[],
  serviceDid: string | undefined,
  crypto: CryptoPort,
): Pinned => {
  const keys: { readonly key: Uint8Array; readonly time: KeyTime | null }[] = [];
  const times = readPinnedKeys(pins);
  for (const [multikey, time] of times) {
    const key = decodeMultikey(multikey);
    if (key === null) return refuse(`${show(multikey)} is not an Ed25519 Multikey (z6Mk…)`);
    keys.push({ key, time });
  }
  const check = ({
    checkpoint,
    kid,
    signingInput,
    signature,
    signedAtMs,
  }: CheckedCheckpoint): ServiceKeyFailure | null => {
    if (serviceDid !== undefined && checkpoint.iss !== serviceDid)
      return failure('wrong-service', `it is of ${checkpoint.iss}, not of ${serviceDid}`);
    const found = keys.find(({ key }) => crypto.verify(key, signingInput, signature));
    if (found === undefined)
      return failure('wrong-signature', `no pinned key has signed it; it names ${kid}`);
    const untimely = found.time === null || signedAtMs === null ? null : findUntimely(found.time, signedAtMs);
    return untimely === null ? null : failure('key-not-in-force', `${kid} ${untimely}, as it is pinned`);
  };
  return {
    ok: true,
    pin: {
      serviceDid: serviceDid ?? null,
      keys: [...times.keys()].map((multikey) => ({ kid: null, multikey })),
      check,
    },
  };
};
