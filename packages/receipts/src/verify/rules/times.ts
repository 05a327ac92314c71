/** Checks that times agree with each other: the id, the expiry and the age of evidence (protocol §8). */
import { formatTimestamp, parseInstant, ulidTimeMs } from '@svc/codec';
import { ulidOf } from '@svc/protocol';
import { findTrustConfig } from '../published.ts';
import { CHECKS, pathOf, type Reading, type Report, type Rule } from './rule.ts';

const checkTime = ({ body }: Reading, report: Report): void => {
  const atMs = ulidTimeMs(ulidOf(body.receipt_id));
  if (parseInstant(body.evaluated_at) === atMs) return;
  // An id may contain a time after the year 9999, which a timestamp cannot express.
  const right = atMs === null || atMs >= AFTER_9999_MS ? 'none that can be written' : formatTimestamp(atMs);
  report('wrong-time', `evaluated_at must be the time in receipt_id, ${right}`, '/evaluated_at');
};

const AFTER_9999_MS = 253_402_300_800_000;

const SECONDS_CHARS = 'YYYY-MM-DDThh:mm:ss'.length;

/** Timestamps of one form compare as strings. `expires_at` is a whole second, so fractions do not matter. */
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

/** Evidence is never newer than the evaluation, because both times are from the service's clock. */
const checkFreshness = ({ body: { evaluated_at: at, evidence } }: Reading, report: Report): void => {
  const known = findTrustConfig(evidence.trust_config_version);
  if (known === null) return;
  const atMs = Date.parse(at);
  const check = (seenAt: string | undefined, maxAgeSeconds: number, path: string) => {
    if (seenAt === undefined) return;
    const ageMs = atMs - Date.parse(seenAt);
    if (ageMs < 0)
      report('contradiction', `${path} must not be after evaluated_at: it is ${seenAt}, not by ${at}`, path);
    if (ageMs > maxAgeSeconds * 1000)
      report('stale-evidence', `${path} must be at most ${maxAgeSeconds} s before evaluated_at`, path);
  };
  const { issuer_resolution: resolution, status } = evidence;
  check(resolution?.resolved_at, known.didDocumentMaxAgeSeconds, '/evidence/issuer_resolution/resolved_at');
  check(status?.checked_at, known.statusListMaxAgeSeconds, '/evidence/status/checked_at');
};

/** Separate from TIME_RULES because it runs, and is reported, before all other rules. */
export const ID_TIME_RULE: Rule = { reads: ['/receipt_id', '/evaluated_at'], check: checkTime };

export const TIME_RULES: readonly Rule[] = [
  { reads: [...CHECKS, '/expires_at', '/evaluated_at'], check: checkExpiry },
  { reads: ['/evidence', '/evaluated_at'], check: checkFreshness },
];
