/** The answer of `GET /decisions/{receipt_id}/inclusion` (interface §Transparency), before anything in it is believed. */

import { isJsonObject, isReceiptId, isSha256, type JsonObject, type JsonValue } from '@svc/protocol';
import { isDay } from '../checkpoint/day.ts';
import { type Failure, failure, show } from '../failure.ts';
import { own } from '../own.ts';
import type { InclusionFailureCode } from './failure.ts';

/** Members that are of no concern here may stand beside these. */
export interface InclusionRecord {
  readonly receipt_id: string;
  readonly day: string;
  /** Hex, as are the steps of the path. */
  readonly leaf: string;
  readonly leaf_index: number;
  readonly tree_size: number;
  /** `sha256:…` */
  readonly root: string;
  readonly audit_path: readonly string[];
  /** The day's compact JWS. */
  readonly checkpoint: string;
  readonly kid: string;
}

const HEX = /^[0-9a-f]{64}$/;
/** A tree of 2^53 leaves has no longer path. */
const MAX_STEPS = 53;

const isText = (value: JsonValue | undefined): value is string => typeof value === 'string';
const isHex = (value: JsonValue | undefined): boolean => isText(value) && HEX.test(value);
const isFrom = (min: number) => (value: JsonValue | undefined) =>
  Number.isSafeInteger(value) && Number(value) >= min;

const FORMS: Readonly<
  Record<keyof InclusionRecord, readonly [right: string, is: (value: JsonValue | undefined) => boolean]>
> = {
  receipt_id: ['"drc_" and a ULID', isReceiptId],
  day: ['a day as YYYY-MM-DD', isDay],
  leaf: ['64 lower-case hex characters', isHex],
  leaf_index: ['an integer from 0 on', isFrom(0)],
  tree_size: ['an integer from 1 on', isFrom(1)],
  root: ['"sha256:" and 64 lower-case hex characters', isSha256],
  audit_path: [
    `at most ${MAX_STEPS} hashes of 64 lower-case hex characters`,
    (value) => Array.isArray(value) && value.length <= MAX_STEPS && value.every(isHex),
  ],
  checkpoint: ['a compact JWS', isText],
  kid: ['the kid of the checkpoint', isText],
};

/** Reads the proof, parsed JSON, or null with what is wrong in `failures`. */
export const parseInclusion = (
  json: unknown,
  failures: Failure<InclusionFailureCode>[],
): InclusionRecord | null => {
  if (!isJsonObject(json)) {
    failures.push(failure('malformed-inclusion', `the inclusion proof must be an object, not ${show(json)}`));
    return null;
  }
  if (isPending(json)) {
    const day = show(own(json, 'day'));
    failures.push(failure('inclusion-pending', `the day ${day} is not closed yet: ask for the proof later`));
    return null;
  }
  const before = failures.length;
  for (const [name, [right, is]] of Object.entries(FORMS)) {
    const value = own(json, name);
    if (value === undefined) failures.push(failure('missing-member', `/${name} is missing`, `/${name}`));
    else if (!is(value))
      failures.push(failure('malformed-member', `/${name} must be ${right}, not ${show(value)}`, `/${name}`));
  }
  return failures.length === before ? (json as unknown as InclusionRecord) : null;
};

/** The answer while the day is open. */
const isPending = (json: JsonObject): boolean =>
  own(json, 'status') !== undefined && own(json, 'audit_path') === undefined;
