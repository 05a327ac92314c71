/** The form of every member of a Receipt's body (interface §Receipt; protocol §2, §5, §6, §8). */
import {
  isCurrency,
  isGrantId,
  isMethod,
  isReasonCode,
  isReceiptId,
  isResourcePattern,
  isSha256,
  type JsonObject,
  MAX_METHODS,
  MAX_RESOURCES,
  PERIODS,
  parseDidWeb,
} from '@svc/protocol';
import { rememberLast } from '@svc/transparency';
import { type Failure, failure } from '../failure.ts';
import { PROTOCOL_CHECKS, TRUST_CHECKS } from './published.ts';
import { checkShape, closed, type Scalar, scalar } from './shape.ts';

const text = (right: string, is: (value: string) => boolean): Scalar =>
  scalar(right, (value) => typeof value === 'string' && is(value));
const exactly = (expected: string): Scalar => scalar(`"${expected}"`, (value) => value === expected);
const oneOf = (...options: readonly string[]): Scalar =>
  scalar(options.map((option) => `"${option}"`).join(' or '), (value) =>
    options.some((option) => option === value),
  );

const DAY = '[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])';
const TIME = '(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]';
const INSTANT = new RegExp(`^${DAY}T${TIME}\\.[0-9]{3}Z$`);
const SECONDS = new RegExp(`^${DAY}T${TIME}Z$`);
const ANY_INSTANT = new RegExp(`^${DAY}T${TIME}(?:\\.[0-9]{1,9})?Z$`);

/** Every month has the days up to 28; the others are asked of the calendar, which rolls over what does not exist. */
const isRealDay = (instant: string): boolean => {
  const date = instant.slice(0, 'YYYY-MM-DD'.length);
  return date.slice(-2) <= '28' || new Date(`${date}T00:00:00Z`).toISOString().startsWith(date);
};

const timeAs = (right: string, form: RegExp): Scalar =>
  text(right, (value) => form.test(value) && isRealDay(value));

const URL = /^https?:\/\/[\x21-\x7e]+$/;
const DID_KEY = /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/;
const INDEX = /^(?:0|[1-9][0-9]{0,15})$/;
const UNSTORABLE = /\p{Surrogate}|\0/u;

const sha256 = scalar('"sha256:" and 64 lower-case hex characters', isSha256);
/** A reader meets the same relying party and Principal again and again. */
const parseDidOnce = rememberLast(parseDidWeb);
const isDidWeb = (value: string): boolean => parseDidOnce(value) !== null;
const didWeb = text('a did:web DID', isDidWeb);
const instant = timeAs('a time as YYYY-MM-DDThh:mm:ss.sssZ', INSTANT);
const outcome = scalar(
  'true, false or "skipped"',
  (value) => value === true || value === false || value === 'skipped',
);
const result = oneOf('PASS', 'FAIL');
const outcomes = (ids: readonly string[]) => closed(Object.fromEntries(ids.map((id) => [id, outcome])));

const isArrayOf = (value: unknown, max: number, is: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length >= 1 && value.length <= max && value.every(is);

const isPattern = (item: unknown): boolean =>
  typeof item === 'string' && isResourcePattern(item) && !UNSTORABLE.test(item);

const count = scalar(
  'an integer, 0 to 2^53-1',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

const checkPeriod = ({ period, maxPerPeriod }: JsonObject, path: string, failures: Failure[]): void => {
  if ((period === undefined) === (maxPerPeriod === undefined)) return;
  failures.push(failure('malformed-member', `${path} must have period and maxPerPeriod together`, path));
};

/**
 * What bounds the authority. An ALLOW passed P17, so there is no constraint that the profile does not know; whether it
 * knows budgets is a matter of consistency.
 */
const CONSTRAINTS = {
  'commerce:purchase': closed(
    { currency: scalar('three upper-case letters (ISO 4217)', isCurrency), maxAmount: count },
    { maxTotal: count, maxPerPeriod: count, period: oneOf(...PERIODS), maxUses: count },
    checkPeriod,
  ),
  'api:call': closed(
    {
      methods: scalar(
        `1 to ${MAX_METHODS} distinct upper-case HTTP methods`,
        (value) =>
          isArrayOf(value, MAX_METHODS, isMethod) &&
          new Set(value as string[]).size === (value as string[]).length,
      ),
    },
    { maxUses: count },
  ),
};

const checkConstraints = ({ action, constraints }: JsonObject, path: string, failures: Failure[]): void => {
  if (constraints !== undefined && (action === 'commerce:purchase' || action === 'api:call'))
    checkShape(constraints, CONSTRAINTS[action], `${path}/constraints`, failures);
};

const capability = closed(
  { action: oneOf('commerce:purchase', 'api:call'), constraints: scalar('an object', () => true) },
  {
    resources: scalar(`1 to ${MAX_RESOURCES} resource patterns of 1 to 512 characters`, (value) =>
      isArrayOf(value, MAX_RESOURCES, isPattern),
    ),
  },
  checkConstraints,
);

export const RECEIPT_BODY_SHAPE = closed(
  {
    decision: oneOf('ALLOW', 'DENY'),
    evaluated_at: instant,
    evidence: closed(
      { trust_config_hash: sha256, trust_config_version: text('a version', (value) => value !== '') },
      {
        consumption: closed({ key: sha256, snapshot_hash: sha256, version: count }),
        issuer_resolution: closed({ did: didWeb, did_document_hash: sha256, resolved_at: instant }),
        status: closed(
          {
            checked_at: instant,
            credential_hash: sha256,
            credential_url: text('an http or https URL', (value) => value.length <= 2048 && URL.test(value)),
            status_list_index: text('a decimal integer without leading zeros', (value) => INDEX.test(value)),
          },
          {
            valid_from: timeAs('an RFC 3339 time in UTC', ANY_INSTANT),
          },
        ),
      },
    ),
    grant_hash: sha256,
    proof_hash: sha256,
    protocol: closed({
      checks: outcomes(PROTOCOL_CHECKS),
      profile: text('the id of a profile', (value) => value !== ''),
      profile_hash: sha256,
      result,
    }),
    reason: scalar('a reason code or null', (value) => value === null || isReasonCode(value)),
    receipt_id: scalar('"drc_" and a ULID', isReceiptId),
    receipt_version: exactly('svc-receipt-v1'),
    relying_party: didWeb,
    trust: closed({ checks: outcomes(TRUST_CHECKS), policy_version: exactly('svc-trust-v1'), result }),
  },
  {
    agent: text('an Ed25519 did:key DID', (value) => DID_KEY.test(value)),
    authority: { ...capability, orNull: true },
    expires_at: timeAs('a time as YYYY-MM-DDThh:mm:ssZ', SECONDS),
    grant_id: scalar('"urn:svc:grant:" and a ULID', isGrantId),
    principal: closed({ id: didWeb, verification: oneOf('domain', 'unverified') }),
    request_hash: sha256,
  },
);
