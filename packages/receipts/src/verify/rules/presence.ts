/** Checks that exactly those members are present which follow from the checks that passed (protocol §8). */
import { CHECKS, type Reading, type Report, type Rule } from './rule.ts';

/** A member that is present if and only if these checks passed. */
const presenceRule = (
  name: 'principal' | 'grant_id' | 'expires_at' | 'authority' | 'agent' | 'request_hash',
  ...ids: readonly string[]
): Rule => ({
  reads: [...CHECKS, `/${name}`],
  check: (reading, report) => {
    const right = ids.every((id) => reading.passed(id));
    if ((reading.body[name] !== undefined) !== right) reportPresence(right, `/${name}`, ids, report);
  },
});

const reportPresence = (right: boolean, path: string, ids: readonly string[], report: Report): void =>
  report(
    'wrong-presence',
    right
      ? `${path} is missing, although ${ids.join(' and ')} passed`
      : `${path} must not be there: ${ids.join(' and ')} did not get that far`,
    path,
  );

/** Evidence must be present if its check passed, and absent if the check could not run; otherwise both are allowed. */
const checkEvidence = (reading: Reading, report: Report): void => {
  const { issuer_resolution: resolution, status } = reading.body.evidence;
  const canResolve = ['P1', 'T1', 'T3'].every((id) => reading.passed(id));
  if (resolution === undefined ? reading.passed('P2') : !canResolve)
    reportPresence(resolution === undefined, '/evidence/issuer_resolution', ['P2'], report);
  const canConsult = reading.passed('P3') && reading.outcome('P6') !== 'skipped';
  if (status === undefined ? reading.passed('P6') : !canConsult)
    reportPresence(status === undefined, '/evidence/status', ['P6'], report);
};

export const PRESENCE_RULES: readonly Rule[] = [
  presenceRule('principal', 'P3'),
  presenceRule('grant_id', 'P3'),
  presenceRule('expires_at', 'P3'),
  presenceRule('authority', 'P3'),
  presenceRule('agent', 'P9'),
  presenceRule('request_hash', 'P9', 'P15'),
  { reads: [...CHECKS, '/evidence/issuer_resolution', '/evidence/status'], check: checkEvidence },
];
