/** The form of every member of a Receipt body (interface §Receipt; protocol §2, §5, §6, §8). */
import {
  checkShape,
  closed,
  failure,
  isSha256,
  type ObjectShape,
  oneOf,
  parseDidWeb,
  parseInstant,
  parseTimestamp,
  parseUtcTime,
  scalar,
  text,
} from '@svc/codec';
import {
  isCurrency,
  isGrantId,
  isMethod,
  isReasonCode,
  isReceiptId,
  isResourcePattern,
  MAX_METHODS,
  MAX_RESOURCES,
  PERIODS,
} from '@svc/protocol';
import { type CheckIds, PROTOCOL_CHECKS, TRUST_CHECKS } from './published.ts';

const instant = text('a time as YYYY-MM-DDThh:mm:ss.sssZ', (value) => parseInstant(value) !== null);
const URL = /^https?:\/\/[\x21-\x7e]+$/;
const DID_KEY = /^did:key:z6Mk[1-9A-HJ-NP-Za-km-z]{44}$/;
const INDEX = /^(?:0|[1-9][0-9]{0,15})$/;
const UNSTORABLE = /\p{Surrogate}|\0/u;

const sha256 = scalar('"sha256:" and 64 lower-case hex characters', isSha256);
const didWeb = text('a did:web DID', (value) => parseDidWeb(value) !== null);
const outcome = scalar(
  'true, false or "skipped"',
  (value) => value === true || value === false || value === 'skipped',
);
const result = oneOf('PASS', 'FAIL');
const each = (ids: readonly string[]) => Object.fromEntries(ids.map((id) => [id, outcome]));
/** rules/outcomes.ts checks which of the checks that only some tables name must be there. */
const outcomes = ({ inEach, inSome }: CheckIds) => closed(each(inEach), each(inSome));

const isArrayOf = (value: unknown, max: number, is: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length >= 1 && value.length <= max && value.every(is);

const isPattern = (item: unknown): boolean =>
  typeof item === 'string' && isResourcePattern(item) && !UNSTORABLE.test(item);

const count = scalar(
  'an integer, 0 to 2^53-1',
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);

const checkPeriod: ObjectShape['then'] = ({ period, maxPerPeriod }, path, { failures }) => {
  if ((period === undefined) === (maxPerPeriod === undefined)) return;
  failures.push(failure('malformed-member', `${path} must have period and maxPerPeriod together`, path));
};

/**
 * The constraints of an authority. An ALLOW passed P17, so only constraints known to the profile can occur.
 * consistency.ts checks whether the profile has budgets.
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

const checkConstraints: ObjectShape['then'] = ({ action, constraints }, path, reading) => {
  if (constraints !== undefined && (action === 'commerce:purchase' || action === 'api:call'))
    checkShape(constraints, CONSTRAINTS[action], reading, `${path}/constraints`);
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
            valid_from: text('an RFC 3339 time in UTC', (value) => parseUtcTime(value) !== null),
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
    receipt_version: oneOf('svc-receipt-v1'),
    relying_party: didWeb,
    trust: closed({ checks: outcomes(TRUST_CHECKS), policy_version: oneOf('svc-trust-v1'), result }),
  },
  {
    agent: text('an Ed25519 did:key DID', (value) => DID_KEY.test(value)),
    authority: { ...capability, orNull: true },
    expires_at: text('a time as YYYY-MM-DDThh:mm:ssZ', (value) => parseTimestamp(value) !== null),
    grant_id: scalar('"urn:svc:grant:" and a ULID', isGrantId),
    principal: closed({ id: didWeb, verification: oneOf('domain', 'unverified') }),
    request_hash: sha256,
  },
);
