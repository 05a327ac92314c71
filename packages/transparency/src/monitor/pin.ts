/**
 * Whose checkpoints count: those signed under a DID document or under keys that the reader had over a channel that he
 * trusts. Nothing that the service serves adds to them.
 */

import { type CryptoPort, decodeMultikey, isJsonObject } from '@svc/protocol';
import type { SignedCheckpoint } from '../checkpoint/jws.ts';
import { type Failure, failure, show } from '../failure.ts';
import { own } from '../own.ts';
import {
  checkServiceSignature,
  parseServiceDocument,
  type ServiceDocument,
  type ServiceFailureCode,
} from '../service-document.ts';

export interface MonitorPin {
  /** Null: that of the first checkpoint seen. */
  readonly serviceDid: string | null;
  /** Null where a pinned key signed. */
  check(signed: SignedCheckpoint): Failure<ServiceFailureCode> | null;
  /** Every pinned key as a Multikey, with its kid where that is pinned too. */
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
  const failures: Failure<ServiceFailureCode>[] = [];
  const parsed = parseServiceDocument(document, failures, serviceDid);
  const [wrong] = failures;
  if (wrong !== undefined || parsed === null) return refuse(wrong?.message ?? 'it cannot be read');
  return {
    ok: true,
    pin: {
      serviceDid: parsed.did,
      keys: keysOf(parsed),
      check: (signed) => checkServiceSignature(parsed, 'status', signed, crypto),
    },
  };
};

/** Every key that a document names under a kid of its own. */
export const keysOf = ({ did, json }: ServiceDocument): { kid: string; multikey: string }[] => {
  const methods = own(json, 'verificationMethod');
  return (Array.isArray(methods) ? methods : []).flatMap((method) => {
    const id = isJsonObject(method) ? own(method, 'id') : undefined;
    const multikey = isJsonObject(method) ? own(method, 'publicKeyMultibase') : undefined;
    if (typeof id !== 'string' || typeof multikey !== 'string') return [];
    return [{ kid: id.startsWith('#') ? `${did}${id}` : id, multikey }];
  });
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
  }: SignedCheckpoint): Failure<ServiceFailureCode> | null => {
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
