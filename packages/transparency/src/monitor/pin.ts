/**
 * The trust anchor of the monitor: a DID document or keys obtained over a trusted channel. Nothing that the service
 * serves extends it.
 */

import { type CryptoPort, decodeMultikey, failure, show } from '@svc/codec';
import type { SignedCheckpoint } from '../checkpoint/jws.ts';
import { findUntimely, type KeyTime } from '../key-time.ts';
import { type PinnedKey, readPinnedKeys, readPinnedPurposes } from '../pinned-keys.ts';
import {
  type KeyPurpose,
  openServiceKeys,
  type ServiceKeyFailure,
  type ServiceSignature,
} from '../service-keys.ts';
import type { Doubt } from './finding.ts';

/**
 * `signedAtMs` is null if the monitor has seen the checkpoint before: its key was in force then, even if it has ended
 * or been compromised since.
 */
export type CheckedCheckpoint = Omit<SignedCheckpoint, 'signedAtMs'> & Pick<ServiceSignature, 'signedAtMs'>;

/** The trust anchor of the monitor: a DID document, or keys alone. */
export interface MonitorPin {
  /** Null: taken from the first checkpoint. */
  readonly serviceDid: string | null;
  /** Null if a pinned key for checkpoints signed it, in the time of that key. */
  check(signed: CheckedCheckpoint): ServiceKeyFailure | null;
  /** Every pinned key as a Multikey. */
  readonly keys: readonly MonitoredKey[];
}

/** A pinned key, with what else is pinned of it. */
export interface MonitoredKey {
  /** The kid also says the key's purpose; null if it is not pinned. */
  readonly kid: string | null;
  readonly multikey: string;
  /** Absent if it is not pinned. */
  readonly purpose?: KeyPurpose;
  /** Absent or null if it is not pinned. */
  readonly time?: KeyTime | null;
}

/**
 * Doubts about keys that are pinned without a purpose: one of them may be a receipt key, whose holder could then sign
 * checkpoints.
 */
export const listPinDoubts = ({ keys }: Pick<MonitorPin, 'keys'>): readonly Doubt[] =>
  keys
    .filter(({ kid, purpose }) => kid === null && purpose === undefined)
    .map(({ multikey }) => ({
      path: '/checkpoints',
      message: `${multikey} is pinned without its purpose, and a receipt key must sign no checkpoint: pin it as a status key if it is one`,
    }));

type Pinned =
  | { readonly ok: true; readonly pin: MonitorPin }
  | { readonly ok: false; readonly problem: string };

const refuse = (problem: string): Pinned => ({ ok: false, problem });

/** Pins a DID document, an object or its text. */
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

/**
 * Pins keys, each alone or with its purpose, its time or both. A signature dated outside a pinned time is refused. Only
 * status keys sign checkpoints: a key that is pinned as a receipt key is only compared with the published ones.
 */
export const pinKeys = (
  pins: readonly PinnedKey[],
  serviceDid: string | undefined,
  crypto: CryptoPort,
): Pinned => {
  const keys: { readonly key: Uint8Array; readonly time: KeyTime | null }[] = [];
  const purposes = readPinnedPurposes(pins);
  const times = readPinnedKeys(pins);
  for (const [multikey, time] of times) {
    const key = decodeMultikey(multikey);
    if (key === null) return refuse(`${show(multikey)} is not an Ed25519 Multikey (z6Mk…)`);
    if (isForCheckpoints(purposes.get(multikey))) keys.push({ key, time });
  }
  if (keys.length === 0) return refuse('no status key is pinned, and no other key signs checkpoints');
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
      keys: [...purposes].flatMap(([multikey, known]) =>
        listMonitored(multikey, known, times.get(multikey) ?? null),
      ),
      check,
    },
  };
};

/**
 * Whether a key with these purposes may sign checkpoints. A key that is pinned without a purpose may; `listPinDoubts`
 * reports it.
 */
const isForCheckpoints = (purposes: ReadonlySet<KeyPurpose> = new Set()): boolean =>
  purposes.size === 0 || purposes.has('status');

const listMonitored = (
  multikey: string,
  purposes: ReadonlySet<KeyPurpose>,
  time: KeyTime | null,
): readonly MonitoredKey[] =>
  purposes.size === 0
    ? [{ kid: null, multikey, time }]
    : [...purposes].map((purpose) => ({ kid: null, multikey, purpose, time }));
