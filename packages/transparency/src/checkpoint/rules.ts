/**
 * Checks the form and the consistency of a checkpoint: a closed object, a valid day that was closed after its end,
 * Receipt ids of that day, and one representation of an empty day. Signatures are not checked here.
 */

import {
  checkShape,
  closed,
  failure,
  isJsonObject,
  isSha256,
  type JsonObject,
  oneOf,
  parseDidWeb,
  type Shape,
  scalar,
  text,
} from '@svc/codec';
import { CompactRange, formatHash } from '@svc/merkle';
import { isReceiptId } from '@svc/protocol';
import { dayEndMs, dayOfReceipt, isDay, leafOfReceipt } from './day.ts';
import type { CheckpointFailure } from './failure.ts';
import { type Checkpoint, TREE } from './payload.ts';

const idOrNull = scalar('a Receipt id or null', (value) => value === null || isReceiptId(value));
const integerFrom = /* @__NO_SIDE_EFFECTS__ */ (min: number) => (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= min;

const SHAPE = closed({
  day: scalar('a day as YYYY-MM-DD', isDay),
  first_receipt_id: idOrNull,
  iat: scalar('an integer of seconds', integerFrom(1)),
  iss: text('a did:web DID', (value) => parseDidWeb(value) !== null),
  last_receipt_id: idOrNull,
  previous_root: scalar(
    '"sha256:" and 64 lower-case hex characters, or null',
    (value) => value === null || isSha256(value),
  ),
  root: scalar('"sha256:" and 64 lower-case hex characters', isSha256),
  tree: oneOf(TREE),
  tree_size: scalar('an integer from 0 on', integerFrom(0)),
} satisfies Record<keyof Checkpoint, Shape>);

/** The checkpoint in parsed JSON, or all its faults. */
export const parseCheckpoint = (
  payload: unknown,
):
  | { readonly ok: true; readonly checkpoint: Checkpoint }
  | { readonly ok: false; readonly failures: readonly CheckpointFailure[] } => {
  if (!isJsonObject(payload))
    return { ok: false, failures: [failure('malformed-member', 'a checkpoint must be a JSON object', '')] };
  const failures = checkRules(payload);
  return failures.length > 0
    ? { ok: false, failures }
    : { ok: true, checkpoint: payload as unknown as Checkpoint };
};

/** All faults; consistency is checked only if every member is well formed. */
export const checkRules = (payload: JsonObject): CheckpointFailure[] => {
  const failures: CheckpointFailure[] = [];
  checkShape(payload, SHAPE, { what: 'checkpoint', failures });
  return failures.length > 0 ? failures : checkAgreement(payload as unknown as Checkpoint);
};

const checkAgreement = (checkpoint: Checkpoint): CheckpointFailure[] => {
  const { day, iat, first_receipt_id: first, last_receipt_id: last, tree_size: size } = checkpoint;
  const failures: CheckpointFailure[] = [];
  const contradiction = (member: keyof Checkpoint, problem: string): void => {
    failures.push(failure('contradiction', `/${member} ${problem}`, `/${member}`));
  };
  if (iat * 1000 < dayEndMs(day)) contradiction('iat', `must not be before the end of ${day}`);
  for (const [member, id] of [
    ['first_receipt_id', first],
    ['last_receipt_id', last],
  ] as const) {
    if ((id === null) !== (size === 0))
      contradiction(member, `must be ${size === 0 ? 'null' : 'there'} with ${size} Receipts`);
    if (id !== null && dayOfReceipt(id) !== day)
      contradiction(member, `must be of ${day}, not of ${dayOfReceipt(id)}`);
  }
  if (first !== null && last !== null && !isOrdered(first, last, size))
    contradiction('last_receipt_id', size === 1 ? 'must be the first one' : 'must come after the first one');
  const root = failures.length === 0 ? findRoot(checkpoint) : null;
  if (root !== null && root !== checkpoint.root) contradiction('root', `must be ${root} by the ids`);
  return failures;
};

/** Ids are ASCII and all of one length, so UTF-16 order is byte order. */
const isOrdered = (first: string, last: string, size: number): boolean =>
  size === 1 ? first === last : first < last;

/** The root if the checkpoint names every leaf (at most two Receipts), otherwise null. */
const findRoot = ({
  tree_size: size,
  first_receipt_id: first,
  last_receipt_id: last,
}: Checkpoint): string | null => {
  if (size > 2) return null;
  const range = new CompactRange();
  for (const id of [first, last].slice(0, size)) if (id !== null) range.push(leafOfReceipt(id));
  return `sha256:${formatHash(range.root())}`;
};
