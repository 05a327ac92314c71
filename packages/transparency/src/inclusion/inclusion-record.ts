/** Parses the answer of `GET /decisions/{receipt_id}/inclusion` (interface §Transparency). Nothing is verified here. */

import {
  addFailures,
  checkShape,
  type Failure,
  failure,
  isJsonObject,
  isSha256,
  type JsonObject,
  member,
  open,
  type Shape,
  type ShapeFailureCode,
  scalar,
  show,
  text,
} from '@svc/codec';
import { isReceiptId } from '@svc/protocol';
import { isDay } from '../checkpoint/day.ts';
import type { InclusionFailureCode } from './failure.ts';

/** An inclusion proof. Unknown members are ignored. */
export interface InclusionRecord {
  readonly receipt_id: string;
  readonly day: string;
  /** Hex, like the steps of the path. */
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
/** Length of the longest path in a tree of 2^53 leaves. */
const MAX_STEPS = 53;

const isHex = (value: unknown): boolean => typeof value === 'string' && HEX.test(value);
const integerFrom = /* @__NO_SIDE_EFFECTS__ */ (min: number) =>
  scalar(`an integer from ${min} on`, (value) => Number.isSafeInteger(value) && Number(value) >= min);

const SHAPE = open({
  receipt_id: scalar('"drc_" and a ULID', isReceiptId),
  day: scalar('a day as YYYY-MM-DD', isDay),
  leaf: scalar('64 lower-case hex characters', isHex),
  leaf_index: integerFrom(0),
  tree_size: integerFrom(1),
  root: scalar('"sha256:" and 64 lower-case hex characters', isSha256),
  audit_path: scalar(
    `at most ${MAX_STEPS} hashes of 64 lower-case hex characters`,
    (value) => Array.isArray(value) && value.length <= MAX_STEPS && value.every(isHex),
  ),
  checkpoint: text('a compact JWS', () => true),
  kid: text('the kid of the checkpoint', () => true),
} satisfies Record<keyof InclusionRecord, Shape>);

/** Reads the proof from parsed JSON. If it cannot, returns null and adds the faults to `failures`. */
export const parseInclusion = (
  json: unknown,
  given: unknown,
  failures: Failure<InclusionFailureCode>[],
): InclusionRecord | null => {
  if (!isJsonObject(json)) {
    failures.push(
      failure(
        'malformed-inclusion',
        `the inclusion proof must be an object, nested no deeper than 32, not ${show(given)}`,
      ),
    );
    return null;
  }
  if (isPending(json)) {
    const day = show(member(json, 'day'));
    failures.push(failure('inclusion-pending', `the day ${day} is not closed yet: ask for the proof later`));
    return null;
  }
  const found: Failure<ShapeFailureCode>[] = [];
  checkShape(json, SHAPE, { what: 'inclusion proof', failures: found });
  addFailures(failures, found);
  return found.length === 0 ? (json as unknown as InclusionRecord) : null;
};

/** Whether this is the answer for a day that is still open. */
const isPending = (json: JsonObject): boolean =>
  member(json, 'status') !== undefined && member(json, 'audit_path') === undefined;
