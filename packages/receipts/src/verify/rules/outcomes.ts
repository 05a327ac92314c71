/**
 * Checks the outcomes against the published table, and the decision, the reason and the results against the outcomes
 * (protocol §7). The profile and the trust configuration must be published ones.
 */
import { show } from '@svc/codec';
import { findTrustConfig, listPublishedHashes } from '../published.ts';
import { CHECKS, PROFILE, pathOf, type Reading, type Report, type Rule } from './rule.ts';

const LATER = 'a later one may know it';

const checkProfile = ({ body, table }: Reading, report: Report): void => {
  if (table !== null) return;
  const { profile, profile_hash: hash } = body.protocol;
  const hashes = listPublishedHashes(profile);
  if (hashes.length === 0)
    report(
      'unknown-profile',
      `the profile ${show(profile)} is not known to this version; ${LATER}`,
      '/protocol/profile',
    );
  else
    report(
      'wrong-profile-hash',
      `the hash of ${profile} must be ${hashes.join(' or ')}, not ${hash}, as far as is known to this version; ${LATER}`,
      '/protocol/profile_hash',
    );
};

const checkTrustConfig = ({ body: { evidence } }: Reading, report: Report): void => {
  const { trust_config_version: version, trust_config_hash: hash } = evidence;
  const known = findTrustConfig(version);
  if (known === null)
    report(
      'unknown-trust-config',
      `the trust configuration ${show(version)} is not known to this version; ${LATER}`,
      '/evidence/trust_config_version',
    );
  else if (known.hash !== hash)
    report(
      'wrong-trust-config-hash',
      `the hash of ${version} must be ${known.hash}, not ${hash}, as far as is known to this version; ${LATER}`,
      '/evidence/trust_config_hash',
    );
};

/** Checks that the Receipt names exactly the checks of its table. */
const checkNamed = ({ body, table }: Reading, report: Report): void => {
  if (table === null) return;
  const { profile, checks } = body.protocol;
  const named = new Set([...Object.keys(checks), ...Object.keys(body.trust.checks)]);
  for (const { id } of table.checks)
    if (!named.delete(id))
      report('missing-member', `${pathOf(id)} is missing: ${profile} has it`, pathOf(id));
  for (const id of named) report('unknown-member', `${profile} has no check ${id}`, pathOf(id));
};

const checkOutcomes = (reading: Reading, report: Report): void => {
  if (reading.table === null || reading.allPassed) return;
  for (const check of reading.table.checks) {
    const { id, requires, looksUp } = check;
    if (reading.outcome(id) === undefined) continue;
    const failed = requires.filter((required) => !reading.passed(required));
    if (failed.length > 0 && reading.outcome(id) !== 'skipped')
      report(
        'wrong-outcome',
        `${id} must be "skipped" because ${failed.join(', ')} did not pass, not ${reading.outcome(id)}`,
        pathOf(id),
      );
    if (!looksUp && reading.isUnavailable(check))
      report(
        'wrong-outcome',
        `${id} must be true or false: all it requires passed, and it needs nothing that can be unavailable`,
        pathOf(id),
      );
  }
};

const checkDecision = (reading: Reading, report: Report): void => {
  const { decision, reason } = reading.body;
  const rightDecision = reading.allPassed ? 'ALLOW' : 'DENY';
  if (decision !== rightDecision)
    report(
      'wrong-decision',
      `decision must be ${rightDecision}: ${reading.allPassed ? 'every' : 'not every'} check is true`,
      '/decision',
    );
  if (decision === 'ALLOW') {
    if (reason !== null) report('wrong-reason', `reason must be null on ALLOW, not ${reason}`, '/reason');
    return;
  }
  const right = findReasons(reading);
  if (reason === null || right?.includes(reason) === false) {
    const expected = right === null ? 'a reason code on DENY' : `${right.join(' or ')} by the checks`;
    report('wrong-reason', `reason must be ${expected}, not ${reason}`, '/reason');
  }
};

/** The reasons that fit the first check that is false or unavailable; null if that check cannot be determined. */
const findReasons = (reading: Reading): readonly string[] | null => {
  for (const check of reading.table?.checks ?? []) {
    if (reading.outcome(check.id) === false) return check.reasons;
    if (reading.isUnavailable(check)) return ['SERVICE_UNAVAILABLE'];
  }
  return null;
};

const resultRule = (group: 'protocol' | 'trust'): Rule => ({
  reads: [`/${group}`],
  check: (reading, report) => {
    const right = reading.groupPassed(group) ? 'PASS' : 'FAIL';
    if (reading.body[group].result !== right)
      report('wrong-result', `${group}.result must be ${right} by its checks`, `/${group}/result`);
  },
});

export const OUTCOME_RULES: readonly Rule[] = [
  { reads: PROFILE, check: checkProfile },
  { reads: ['/evidence/trust_config_version', '/evidence/trust_config_hash'], check: checkTrustConfig },
  { reads: [...CHECKS, ...PROFILE], check: checkNamed },
  { reads: [...CHECKS, ...PROFILE], check: checkOutcomes },
  { reads: [...CHECKS, ...PROFILE, '/decision', '/reason'], check: checkDecision },
  resultRule('protocol'),
  resultRule('trust'),
];
