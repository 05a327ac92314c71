/**
 * The published checkpoint: a compact JWS whose header and payload must be in RFC 8785 form, so that a checkpoint has
 * exactly one text and one hash (protocol §1, §12).
 */
import { type CryptoPort, failure, portableCrypto, type Signer, show, signCompactJws } from '@svc/codec';
import { readServiceJws, type ServiceJws } from '../service-jws.ts';
import { openServiceKeys } from '../service-keys.ts';
import type { CheckpointFailure } from './failure.ts';
import { CHECKPOINT_MAX_CHARS, CHECKPOINT_TYP, type Checkpoint } from './payload.ts';
import { parseCheckpoint } from './rules.ts';

/** The compact JWS. Rejects with the signer's errors. */
export const signCheckpoint = (checkpoint: Checkpoint, signer: Signer): Promise<string> =>
  signCompactJws(signer, { typ: CHECKPOINT_TYP }, { ...checkpoint });

/** A well-formed checkpoint with its signature, which has not been verified. */
export interface SignedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** `<iss>#status-<n>`. */
  readonly kid: string;
  /** Exactly what was signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
  /** `iat`, in milliseconds. */
  readonly signedAtMs: number;
}

type Read<T> =
  | ({ readonly ok: true } & T)
  | { readonly ok: false; readonly failures: readonly CheckpointFailure[] };

/** Parses and checks a JWS except for its signature: the result is not authenticated. */
export const parseSignedCheckpoint = (text: string): Read<SignedCheckpoint> => {
  const jws = readServiceJws(text, CHECKPOINT_TYP, CHECKPOINT_MAX_CHARS);
  if (!jws.ok)
    return {
      ok: false,
      failures: [failure('malformed-jws', `a checkpoint must be a compact JWS: ${jws.problem}`)],
    };
  const failures: CheckpointFailure[] = [];
  const { kid } = jws;
  if (kid === null) failures.push(wrongHeader(jws));
  if (!jws.isPayloadCanonical)
    failures.push(failure('payload-not-canonical', 'the payload must be in RFC 8785 form'));
  const parsed = parseCheckpoint(jws.payload);
  if (!parsed.ok) return { ok: false, failures: [...failures, ...parsed.failures] };
  const { checkpoint } = parsed;
  if (kid !== null && !isStatusKid(kid, checkpoint.iss))
    failures.push(failure('wrong-header', `the kid must be ${checkpoint.iss}#status-<n>, not ${show(kid)}`));
  if (failures.length > 0 || kid === null) return { ok: false, failures };
  const { signingInput, signature } = jws;
  return { ok: true, checkpoint, kid, signingInput, signature, signedAtMs: checkpoint.iat * 1000 };
};

const wrongHeader = ({ header }: ServiceJws): CheckpointFailure => {
  const right = `{"alg":"EdDSA","kid":"<kid>","typ":"${CHECKPOINT_TYP}"}`;
  return failure('wrong-header', `the protected header must be exactly ${right}, not ${show(header)}`);
};

const KEY_NUMBER = /^[1-9][0-9]*$/;

const isStatusKid = (kid: string, serviceDid: string): boolean => {
  const prefix = `${serviceDid}#status-`;
  return kid.startsWith(prefix) && KEY_NUMBER.test(kid.slice(prefix.length));
};

/** A checkpoint, and what it is verified with. */
export interface CheckpointToVerify {
  /** The compact JWS. */
  readonly checkpoint: string;
  /** The service's pinned DID document, as an object or its text, or the result of `readServiceKeys` for it. */
  readonly serviceDidDocument: unknown;
  /** The DID that the pinned document must have. */
  readonly serviceDid?: string;
  /** Default: portable JavaScript. */
  readonly crypto?: CryptoPort;
}

/**
 * Verifies that the service signed this checkpoint. Never throws: all faults are in `failures`.
 * @example
 * const verified = verifyCheckpoint({ checkpoint: jws, serviceDidDocument: didDocument });
 * if (verified.ok) console.log(verified.checkpoint.day, verified.checkpoint.root);
 */
export const verifyCheckpoint = ({
  checkpoint: text,
  serviceDidDocument,
  serviceDid,
  crypto = portableCrypto,
}: CheckpointToVerify): Read<{ readonly checkpoint: Checkpoint; readonly kid: string }> => {
  const failures: CheckpointFailure[] = [];
  const keys = openServiceKeys(serviceDidDocument, failures, serviceDid);
  const signed = parseSignedCheckpoint(text);
  if (!signed.ok) return { ok: false, failures: [...failures, ...signed.failures] };
  const wrong = keys?.check('status', signed, crypto);
  if (wrong) failures.push(wrong);
  if (failures.length > 0) return { ok: false, failures };
  return { ok: true, checkpoint: signed.checkpoint, kid: signed.kid };
};
