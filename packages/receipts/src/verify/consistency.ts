/**
 * Checks the consistency of a Receipt (protocol §7, §8):
 *
 * - the outcomes agree with the published table of checks;
 * - the decision and the reason agree with the outcomes;
 * - the members that are present agree with the checks that passed.
 *
 * A signed Receipt that fails here proves a fault of the service.
 */
import { failure } from '@svc/codec';
import type { ReceiptBody } from '@svc/protocol';
import type { Failure } from '../failure.ts';
import { AUTHORITY_RULES } from './rules/authority.ts';
import { OUTCOME_RULES } from './rules/outcomes.ts';
import { PRESENCE_RULES } from './rules/presence.ts';
import { Reading, type Report, type Rule } from './rules/rule.ts';
import { ID_TIME_RULE, TIME_RULES } from './rules/times.ts';

const RULES: readonly Rule[] = [
  ID_TIME_RULE,
  ...OUTCOME_RULES,
  ...PRESENCE_RULES,
  ...AUTHORITY_RULES,
  ...TIME_RULES,
];

/** Adds inconsistencies. A rule runs only if no failure in `failures` concerns a member that it reads. */
export const checkConsistency = (body: ReceiptBody, failures: Failure[]): void => {
  const unsound = failures.flatMap(({ path }) => path ?? []);
  const report: Report = (code, message, path) => void failures.push(failure(code, message, path));
  const reading = new Reading(body);
  for (const rule of RULES)
    if (unsound.length === 0 || !rule.reads.some((read) => unsound.some((path) => overlaps(read, path))))
      rule.check(reading, report);
};

const overlaps = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
