/**
 * Reads a checkpoint as given: its compact JWS, or the Checkpoint of `GET /checkpoints/{day}` that contains it
 * (interface §Transparency). Only the signed payload is used; the unsigned members must agree with it.
 */

import {
  type CryptoPort,
  type Failure,
  failure,
  isJsonObject,
  type JsonObject,
  member,
  parseStrictJson,
  plainObject,
  sha256Of,
  show,
} from '@svc/codec';
import { parseSignedCheckpoint, type SignedCheckpoint } from '../checkpoint/jws.ts';
import type { Checkpoint } from '../checkpoint/payload.ts';
import type { ServiceKeys } from '../service-keys.ts';
import type { InclusionFailureCode } from './failure.ts';
import { readGivenText } from './given-text.ts';

export type CheckpointFailures = Failure<InclusionFailureCode>[];

export interface CheckpointSource {
  readonly jws: string;
  /** Null if only the JWS was given. */
  readonly record: JsonObject | null;
}

/** Finds the JWS in an object, its text or the bare JWS; null with a failure if there is none. */
export const readCheckpoint = (given: unknown, failures: CheckpointFailures): CheckpointSource | null => {
  const text = readGivenText(given);
  if (text !== null && !text.startsWith('{')) return { jws: text, record: null };
  const parsed = text === null ? null : parseStrictJson(text);
  const json = parsed === null ? plainObject(given) : parsed.ok ? parsed.value : undefined;
  const jws = isJsonObject(json) ? member(json, 'checkpoint') : undefined;
  if (isJsonObject(json) && typeof jws === 'string') return { jws, record: json };
  failures.push(
    failure('malformed-checkpoint', `the checkpoint must be a Checkpoint or its JWS, not ${show(given)}`),
  );
  return null;
};

const AT = '/checkpoint';

/**
 * Verifies form and signature, and that the record agrees with the payload. Null with failures otherwise. If a newer
 * document or an attestation could still decide about the key, adds the failure and returns the checkpoint, so that the
 * rest of the proof is checked all the same.
 */
export const verifyCheckpointSource = (
  { jws, record }: CheckpointSource,
  keys: ServiceKeys | null,
  crypto: CryptoPort,
  failures: CheckpointFailures,
  isAttested: boolean,
): SignedCheckpoint | null => {
  const signed = parseSignedCheckpoint(jws);
  if (!signed.ok) {
    for (const { code, message } of signed.failures)
      failures.push(failure(code, `the checkpoint: ${message}`, AT));
    return null;
  }
  if (keys === null) return null;
  const hash = sha256Of(crypto, jws);
  const wrong = keys.check('status', isAttested ? { ...signed, signedAtMs: null } : signed, crypto);
  if (wrong !== null) failures.push(failure(wrong.code, `the checkpoint: ${wrong.message}`, AT));
  if (record !== null) checkRecord(record, { ...signed.checkpoint, kid: signed.kid }, hash, failures);
  return wrong === null || OPEN.has(wrong.code) ? signed : null;
};

const OPEN: ReadonlySet<string> = new Set(['unknown-key', 'key-not-in-force']);

/** Adds a failure for each unsigned member that differs from the payload. */
export const checkRecord = (
  record: JsonObject,
  signed: Checkpoint & { readonly kid: string },
  hash: string,
  failures: CheckpointFailures,
): void => {
  for (const [name, right] of Object.entries({ ...signed, checkpoint_hash: hash })) {
    const said = member(record, name);
    if (said !== undefined && said !== right)
      failures.push(
        failure(
          'payload-mismatch',
          `the checkpoint: /${name} must be ${show(right)} as signed, not ${show(said)}`,
          AT,
        ),
      );
  }
};
