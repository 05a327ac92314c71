/**
 * The trust anchor of the monitor: a DID document or keys obtained over a trusted channel. Nothing that the service serves
 * extends it.
 */

import { type CryptoPort, decodeMultikey, failure, show } from '@svc/codec';
import type { SignedCheckpoint } from '../checkpoint/jws.ts';
import { openServiceKeys, type ServiceKeyFailure } from '../service-keys.ts';

export interface MonitorPin {
  /** Null: taken from the first checkpoint. */
  readonly serviceDid: string | null;
  /** Null if the signature is by a pinned key. */
  check(signed: SignedCheckpoint): ServiceKeyFailure | null;
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

/** Ed25519 Multikeys. */
export const pinKeys = (
  multikeys: readonly string[],
  serviceDid: string | undefined,
  crypto: CryptoPort,
): Pinned => {
  const keys: Uint8Array[] = [];
  for (const multikey of multikeys) {
    const key = decodeMultikey(multikey);
    if (key === null) return refuse(`${show(multikey)} is not an Ed25519 Multikey (z6Mk…)`);
    keys.push(key);
  }
  const check = ({
    checkpoint,
    kid,
    signingInput,
    signature,
  }: SignedCheckpoint): ServiceKeyFailure | null => {
    if (serviceDid !== undefined && checkpoint.iss !== serviceDid)
      return failure('wrong-service', `it is of ${checkpoint.iss}, not of ${serviceDid}`);
    if (keys.some((key) => crypto.verify(key, signingInput, signature))) return null;
    return failure('wrong-signature', `no pinned key has signed it; it names ${kid}`);
  };
  return {
    ok: true,
    pin: {
      serviceDid: serviceDid ?? null,
      keys: multikeys.map((multikey) => ({ kid: null, multikey })),
      check,
    },
  };
};
