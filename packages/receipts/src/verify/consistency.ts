/**
 * Whether a Receipt agrees with itself: the outcomes with the published table, the decision and the reason with the
 * outcomes, the members with how far the checks got (protocol §7, §8). A service that signs a Receipt which fails
 * here has a fault, or lies.
 *
 * Each rule names what it reads and runs only if all of that is well formed.
 */
import {
  capabilityKeyOf,
  formatTimestamp,
  hasBudget,
  portableCrypto,
  type ReceiptBody,
  ulidOf,
  ulidTimeMs,
} from '@svc/protocol';
import { type Failure, type FailureCode, failure, show } from '../failure.ts';
import {
  findPublishedTable,
  findTrustConfig,
  listPublishedHashes,
  type PublishedCheck,
  type PublishedTable,
} from './published.ts';

type Report = (code: FailureCode, message: string, path: string) => void;

interface Rule {
  /** JSON pointers. */
  readonly reads: readonly string[];
  readonly check: (reading: Reading, report: Report) => void;
}

/** Adds what is inconsistent. `failures` holds what is wrong in form, which decides the rules that can run. */
export const checkConsistency = (body: ReceiptBody, failures: Failure[]): void => {
  const unsound: string[] = [];
  for (const { path } of failures) if (path !== undefined) unsound.push(path);
  const report: Report = (code, message, path) => void failures.push(failure(code, message, path));
  const reading = new Reading(body);
  for (const rule of RULES)
    if (unsound.length === 0 || !rule.reads.some((read) => unsound.some((path) => overlaps(read, path))))
      rule.check(reading, report);
};

const overlaps = (a: string, b: string): boolean => a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);

/** What several rules need to know of one body, each found once and only when asked for. */
class Reading {
  readonly #groupPassed: { protocol?: boolean; trust?: boolean } = {};
  #table: PublishedTable | null | undefined;

  constructor(readonly body: ReceiptBody) {}

  outcome(id: string): boolean | 'skipped' | undefined {
    return (id.startsWith('P') ? this.body.protocol : this.body.trust).checks[id];
  }

  passed(id: string): boolean {
    return this.outcome(id) === true;
  }

  groupPassed(group: 'protocol' | 'trust'): boolean {
    this.#groupPassed[group] ??= Object.values(this.body[group].checks).every((outcome) => outcome === true);
    return this.#groupPassed[group];
  }

  get allPassed(): boolean {
    return this.groupPassed('protocol') && this.groupPassed('trust');
  }

  /** Null for a profile that is not known, or known under other hashes only. */
  get table(): PublishedTable | null {
    const { profile, profile_hash: hash } = this.body.protocol;
    this.#table ??= findPublishedTable(profile, hash);
    return this.#table;
  }

  /** Skipped although all that it requires passed: what it had to look up was unavailable. */
  isUnavailable({ id, requires }: PublishedCheck): boolean {
    return this.outcome(id) === 'skipped' && requires.every((required) => this.passed(required));
  }
}

const pathOf = (id: string): string => `/${id.startsWith('P') ? 'protocol' : 'trust'}/checks/${id}`;

const checkTime = ({ body }: Reading, report: Report): void => {
  const right = formatTimestamp(ulidTimeMs(ulidOf(body.receipt_id)) ?? 0);
  if (body.evaluated_at !== right)
    report('wrong-time', `evaluated_at must be the time in receipt_id, ${right}`, '/evaluated_at');
};

const checkProfile = ({ body, table }: Reading, report: Report): void => {
  if (table !== null) return;
  const { profile, profile_hash: hash } = body.protocol;
  const hashes = listPublishedHashes(profile);
  if (hashes.length === 0)
    report('unknown-profile', `no profile ${show(profile)} is known here`, '/protocol/profile');
  else
    report(
      'wrong-profile-hash',
      `${profile} is published under ${hashes.join(', ')}, not ${hash}`,
      '/protocol/profile_hash',
    );
};

const checkTrustConfig = ({ body: { evidence } }: Reading, report: Report): void => {
  const { trust_config_version: version, trust_config_hash: hash } = evidence;
  const known = findTrustConfig(version);
  if (known === null)
    report(
      'unknown-trust-config',
      `no trust configuration ${show(version)} is known here`,
      '/evidence/trust_config_version',
    );
  else if (known.hash !== hash)
    report(
      'wrong-trust-config-hash',
      `${version} is published under ${known.hash}, not ${hash}`,
      '/evidence/trust_config_hash',
    );
};

const checkOutcomes = (reading: Reading, report: Report): void => {
  if (reading.table === null || reading.allPassed) return;
  for (const check of reading.table.checks) {
    const { id, requires, looksUp } = check;
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

/** The reasons that fit the first check that is false or unavailable; null where that cannot be told. */
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

/** A member that is there if and only if these checks passed. */
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

/** Evidence is there once a check has passed on it, and not before the check could run; in between either may be. */
const checkEvidence = (reading: Reading, report: Report): void => {
  const { issuer_resolution: resolution, status } = reading.body.evidence;
  const canResolve = ['P1', 'T1', 'T3'].every((id) => reading.passed(id));
  if (resolution === undefined ? reading.passed('P2') : !canResolve)
    reportPresence(resolution === undefined, '/evidence/issuer_resolution', ['P2'], report);
  const canConsult = reading.passed('P3') && reading.outcome('P6') !== 'skipped';
  if (status === undefined ? reading.passed('P6') : !canConsult)
    reportPresence(status === undefined, '/evidence/status', ['P6'], report);
};

const checkAuthority = ({ body: { authority, decision } }: Reading, report: Report): void => {
  if (authority !== undefined && (authority === null) !== (decision === 'DENY'))
    report(
      'contradiction',
      `authority must be ${decision === 'DENY' ? 'null' : 'a Capability'} on ${decision}`,
      '/authority',
    );
};

/** What an ALLOW consumed is there exactly where its authority has a budget, and names that budget. */
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

const SECONDS_CHARS = 'YYYY-MM-DDThh:mm:ss'.length;

/** Texts of one form compare as the instants do. `expires_at` is a whole second, so fractions make no difference. */
const checkExpiry = (reading: Reading, report: Report): void => {
  const { expires_at: expiresAt, evaluated_at: at } = reading.body;
  if (expiresAt === undefined) return;
  const unexpired = at.slice(0, SECONDS_CHARS) < expiresAt.slice(0, SECONDS_CHARS);
  if (reading.outcome('P5') !== unexpired)
    report(
      'contradiction',
      `P5 must be ${unexpired}: expires_at is ${expiresAt}, evaluated_at ${at}`,
      pathOf('P5'),
    );
};

const checkFreshness = ({ body: { evaluated_at: at, evidence } }: Reading, report: Report): void => {
  const known = findTrustConfig(evidence.trust_config_version);
  if (known === null) return;
  const atMs = Date.parse(at);
  const check = (seenAt: string | undefined, maxAgeSeconds: number, path: string) => {
    if (seenAt !== undefined && atMs - Date.parse(seenAt) > maxAgeSeconds * 1000)
      report('stale-evidence', `${path} must be at most ${maxAgeSeconds} s before evaluated_at`, path);
  };
  const { issuer_resolution: resolution, status } = evidence;
  check(resolution?.resolved_at, known.didDocumentMaxAgeSeconds, '/evidence/issuer_resolution/resolved_at');
  check(status?.checked_at, known.statusListMaxAgeSeconds, '/evidence/status/checked_at');
};

const CHECKS = ['/protocol/checks', '/trust/checks'];
const TABLE = [...CHECKS, '/protocol/profile', '/protocol/profile_hash'];

const RULES: readonly Rule[] = [
  { reads: ['/receipt_id', '/evaluated_at'], check: checkTime },
  { reads: ['/protocol/profile', '/protocol/profile_hash'], check: checkProfile },
  { reads: ['/evidence/trust_config_version', '/evidence/trust_config_hash'], check: checkTrustConfig },
  { reads: TABLE, check: checkOutcomes },
  { reads: [...TABLE, '/decision', '/reason'], check: checkDecision },
  resultRule('protocol'),
  resultRule('trust'),
  presenceRule('principal', 'P3'),
  presenceRule('grant_id', 'P3'),
  presenceRule('expires_at', 'P3'),
  presenceRule('authority', 'P3'),
  presenceRule('agent', 'P9'),
  presenceRule('request_hash', 'P9', 'P15'),
  { reads: [...CHECKS, '/evidence/issuer_resolution', '/evidence/status'], check: checkEvidence },
  { reads: ['/authority', '/decision'], check: checkAuthority },
  {
    reads: ['/authority', '/protocol/profile', '/protocol/profile_hash', '/evidence/consumption'],
    check: checkConsumption,
  },
  { reads: [...CHECKS, '/principal', '/evidence/issuer_resolution'], check: checkPrincipal },
  { reads: [...CHECKS, '/expires_at', '/evaluated_at'], check: checkExpiry },
  { reads: ['/evidence', '/evaluated_at'], check: checkFreshness },
];
