/** Checks that authority, consumption and Principal agree with the checks and with each other (protocol §8, §11). */
import { show } from '@svc/codec';
import { capabilityKeyOf, hasBudget, portableCrypto } from '@svc/protocol';
import { CHECKS, PROFILE, type Reading, type Report, type Rule } from './rule.ts';

const checkAuthority = ({ body: { authority, decision } }: Reading, report: Report): void => {
  if (authority !== undefined && (authority === null) !== (decision === 'DENY'))
    report(
      'contradiction',
      `authority must be ${decision === 'DENY' ? 'null' : 'a Capability'} on ${decision}`,
      '/authority',
    );
};

/** A consumption is present if and only if the authority has a budget, and it names that budget. */
const checkConsumption = (
  { body: { authority, evidence, protocol }, table }: Reading,
  report: Report,
): void => {
  const path = '/evidence/consumption';
  const budgeted = authority && hasBudget(authority) ? authority : null;
  if (budgeted !== null && table?.budgets === false)
    report('contradiction', `${protocol.profile} knows no budgets`, '/authority/constraints');
  const key = evidence.consumption?.key;
  if ((key === undefined) !== (budgeted === null))
    report('wrong-presence', `${path} must be there exactly where authority has a budget`, path);
  else if (budgeted !== null && key !== capabilityKeyOf(portableCrypto, budgeted))
    report('contradiction', `${path}/key must be the hash of authority`, `${path}/key`);
};

const checkPrincipal = (reading: Reading, report: Report): void => {
  const { principal, evidence } = reading.body;
  if (principal === undefined) return;
  const right = reading.passed('T2') ? 'domain' : 'unverified';
  if (principal.verification !== right)
    report('contradiction', `principal.verification must be ${show(right)} by T2`, '/principal/verification');
  const did = evidence.issuer_resolution?.did;
  if (did !== undefined && did !== principal.id)
    report(
      'contradiction',
      `the DID document must be that of the Principal, ${principal.id}, not of ${did}`,
      '/evidence/issuer_resolution/did',
    );
};

export const AUTHORITY_RULES: readonly Rule[] = [
  { reads: ['/authority', '/decision'], check: checkAuthority },
  { reads: ['/authority', ...PROFILE, '/evidence/consumption'], check: checkConsumption },
  { reads: [...CHECKS, '/principal', '/evidence/issuer_resolution'], check: checkPrincipal },
];
