/**
 * The monitor's state between runs: every signed checkpoint it has seen, which is also its evidence. When the state is
 * read, each signature is verified again, and the checkpoints must form a chain. Their dates are not checked again,
 * because the key of a day may have ended or been compromised since the monitor saw it.
 */

import { isJsonObject, type JsonValue, member, parseStrictJson, show } from '@svc/codec';
import { findChainBreak } from '../checkpoint/chain.ts';
import { parseSignedCheckpoint, type SignedCheckpoint } from '../checkpoint/jws.ts';
import type { Checkpoint } from '../checkpoint/payload.ts';
import type { MonitorPin } from './pin.ts';

/** A day that an earlier run has checked. */
export interface SeenDay {
  readonly checkpoint: Checkpoint;
  readonly jws: string;
  /** Whether its leaves were found to match its root. */
  readonly isWhole: boolean;
}

/** Consecutive days, ascending. */
export type Seen = readonly SeenDay[];

const FORMAT = 'svc-receipt-monitor/1';

/** One line per day, so that two states can be diffed. */
export const formatSeen = (seen: Seen): string => {
  const days = seen.map(({ checkpoint, jws, isWhole }) =>
    JSON.stringify({ day: checkpoint.day, leaves_checked: isWhole, checkpoint: jws }),
  );
  return `{"format":"${FORMAT}","days":[\n${days.join(',\n')}\n]}\n`;
};

type ParsedSeen =
  | { readonly ok: true; readonly seen: Seen }
  | { readonly ok: false; readonly problem: string };

/** The state that an earlier run has left, or why it cannot be read. Verifies its checkpoints under the pin again. */
export const parseSeen = (text: string, pin: MonitorPin): ParsedSeen => {
  const json = parseStrictJson(text);
  if (!json.ok) return refuse(`it is not JSON: ${json.problem} at character ${json.offset}`);
  const { value } = json;
  const days = isJsonObject(value) && member(value, 'format') === FORMAT ? member(value, 'days') : undefined;
  if (!Array.isArray(days)) return refuse(`it is not of the form ${FORMAT}`);
  const seen: SeenDay[] = [];
  for (const one of days) {
    const day = parseDay(one, pin);
    if (typeof day === 'string') return refuse(day);
    seen.push(day);
  }
  const found = findChainBreak(seen.map(({ checkpoint }) => checkpoint));
  return found === null ? { ok: true, seen } : refuse(`its days are no chain at ${found.day}`);
};

const refuse = (problem: string): ParsedSeen => ({ ok: false, problem });

/** A text says what is wrong. */
const parseDay = (value: JsonValue, pin: MonitorPin): SeenDay | string => {
  const jws = isJsonObject(value) ? member(value, 'checkpoint') : undefined;
  const isWhole = isJsonObject(value) ? member(value, 'leaves_checked') : undefined;
  if (!isJsonObject(value) || typeof jws !== 'string' || typeof isWhole !== 'boolean')
    return `${show(value)} is no day`;
  const read = readSigned(jws, pin, { wasSeen: true });
  if (!read.ok) return `the checkpoint of ${show(member(value, 'day'))}: ${read.problem}`;
  const { checkpoint } = read.signed;
  if (member(value, 'day') !== checkpoint.day)
    return `the checkpoint of ${show(member(value, 'day'))} is of ${checkpoint.day}`;
  return { checkpoint, jws, isWhole };
};

type ReadSigned =
  | { readonly ok: true; readonly signed: SignedCheckpoint }
  | { readonly ok: false; readonly problem: string };

/**
 * A verified checkpoint, or what is wrong with it. If it was not seen before, its key must have been in force at its
 * date.
 */
export const readSigned = (
  jws: string,
  pin: MonitorPin,
  { wasSeen }: { readonly wasSeen: boolean },
): ReadSigned => {
  const signed = parseSignedCheckpoint(jws);
  if (!signed.ok) return { ok: false, problem: signed.failures.map(({ message }) => message).join('; ') };
  const wrong = pin.check(wasSeen ? { ...signed, signedAtMs: null } : signed);
  return wrong === null ? { ok: true, signed } : { ok: false, problem: wrong.message };
};
