/** Fetches one checkpoint from the service (interface §Transparency). Only its signed part is used. */

import { type CryptoPort, isJsonObject, member, parseStrictJson, sha256Of, show } from '@svc/codec';
import type { Checkpoint } from '../checkpoint/payload.ts';
import { type CheckpointFailures, checkRecord } from '../inclusion/checkpoint-record.ts';
import type { MonitorPin } from './pin.ts';
import { readSigned, type Seen } from './seen.ts';
import { type Source, SourceError } from './source.ts';

export interface Published {
  readonly checkpoint: Checkpoint;
  readonly jws: string;
}

export type CheckpointFetch =
  | ({ readonly kind: 'found' } & Published)
  /** The service answered 404. */
  | { readonly kind: 'absent' }
  /** A checkpoint that is malformed, for another day, or not signed by the pinned service. */
  | { readonly kind: 'wrong'; readonly problem: string; readonly jws: string }
  | { readonly kind: 'unknown'; readonly message: string };

/** A Checkpoint has about 2 KB. */
const MAX_BYTES = 65_536;

export const checkpointPath = (day: string): string => `/checkpoints/${day}`;

interface Reading {
  readonly source: Source;
  readonly pin: MonitorPin;
  readonly crypto: CryptoPort;
  readonly seen: Seen;
}

/** `day` may be `latest`. */
export const fetchCheckpoint = async (reading: Reading, day: string): Promise<CheckpointFetch> => {
  try {
    const { status, text } = await reading.source.fetchText(checkpointPath(day), MAX_BYTES);
    if (status === 404) return { kind: 'absent' };
    if (status !== 200) return { kind: 'unknown', message: `it answered ${status}` };
    return readPublished(text, day, reading);
  } catch (error) {
    if (error instanceof SourceError) return { kind: 'unknown', message: error.message };
    throw error;
  }
};

const readPublished = (text: string, day: string, { pin, crypto, seen }: Reading): CheckpointFetch => {
  const json = parseStrictJson(text);
  const record = json.ok && isJsonObject(json.value) ? json.value : null;
  const jws = record === null ? undefined : member(record, 'checkpoint');
  // Unsigned text, such as a proxy's error page, is no evidence against the service.
  if (record === null || typeof jws !== 'string')
    return { kind: 'unknown', message: `it answered something else than a checkpoint: ${show(text)}` };
  const read = readSigned(jws, pin, { wasSeen: seen.some((one) => one.jws === jws) });
  if (!read.ok) return { kind: 'wrong', problem: read.problem, jws };
  const { checkpoint, kid } = read.signed;
  if (day !== 'latest' && checkpoint.day !== day)
    return { kind: 'wrong', problem: `it is of ${checkpoint.day}`, jws };
  const failures: CheckpointFailures = [];
  checkRecord(record, { ...checkpoint, kid }, sha256Of(crypto, jws), failures);
  const [failure] = failures;
  if (failure !== undefined) return { kind: 'wrong', problem: failure.message, jws };
  return { kind: 'found', checkpoint, jws };
};
