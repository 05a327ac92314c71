/**
 * The value formats of the wire (interface §Identifier and value formats, protocol §13), as zod schemas.
 *
 * Every message is a phrase that begins with "must". Request binding puts the field's name before it, so that a caller
 * reads which field it is, what is right, and what was sent. Parsing a format gives the value its branded type.
 */
import { parseAnyUtcTime, parseUtcTime, ULID_PATTERN as ULID } from '@svc/codec';
import {
  type ApiKeyId,
  type DidKey,
  type DidWeb,
  type GrantId,
  isApiKeyId,
  isGrantId,
  isOrgId,
  isReceiptId,
  isSha256,
  type OrgId,
  type ReceiptId,
  type Sha256,
} from '@svc/protocol';
import { z } from 'zod';

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';

/** Interface §Limits: slugs of Principals, relying parties and self-serve tenants. */
const SLUG = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

export const text = (pattern: RegExp, message: string) =>
  z.string({ error: message }).regex(pattern, { error: message });

/** Gives a string schema the branded type that its check guarantees. */
const branded = <T extends string>(schema: z.ZodString): z.ZodType<T, string> =>
  schema as unknown as z.ZodType<T, string>;

export const didWeb = branded<DidWeb>(
  text(/^did:web:[A-Za-z0-9._:%-]{1,500}$/, 'must be a did:web DID such as did:web:shop.example').meta({
    example: 'did:web:shop.example',
  }),
);

export const didKey = branded<DidKey>(
  text(
    new RegExp(`^did:key:z6Mk${BASE58}{44}$`),
    'must be an Ed25519 did:key: did:key:z6Mk and 44 base58 characters',
  ).meta({ example: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' }),
);

export const grantId = branded<GrantId>(
  text(new RegExp(`^urn:svc:grant:${ULID}$`), 'must be a Grant id: urn:svc:grant: and a ULID')
    .refine(isGrantId)
    .meta({ example: 'urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J' }),
);

export const receiptId = branded<ReceiptId>(
  text(new RegExp(`^drc_${ULID}$`), 'must be a Receipt id: drc_ and a ULID')
    .refine(isReceiptId)
    .meta({ example: 'drc_01M7VZGC008Q2R7V9X1C4E6H8K' }),
);

export const orgId = branded<OrgId>(
  text(new RegExp(`^org_${ULID}$`), 'must be an org id: org_ and a ULID')
    .refine(isOrgId)
    .meta({ example: 'org_01M7VZGC008Q2R7V9X1C4E6H8M' }),
);

export const attestationId = text(
  new RegExp(`^oat_${ULID}$`),
  'must be an attestation id: oat_ and a ULID',
).meta({ example: 'oat_01M7VZGC008Q2R7V9X1C4E6H8P' });

export const subscriptionId = text(
  new RegExp(`^whs_${ULID}$`),
  'must be a subscription id: whs_ and a ULID',
).meta({ example: 'whs_01M7VZGC008Q2R7V9X1C4E6H8R' });

export const streamId = text(new RegExp(`^ssf_${ULID}$`), 'must be a stream id: ssf_ and a ULID').meta({
  example: 'ssf_01M7VZGC008Q2R7V9X1C4E6H8T',
});

export const accessRequestId = text(
  new RegExp(`^arq_${ULID}$`),
  'must be an access request id: arq_ and a ULID',
).meta({ example: 'arq_01M7VZGC008Q2R7V9X1C4E6H8S' });

/** The event of a decision has `evt_` and the ULID of its Receipt; the ids of other events are random. */
export const eventId = text(
  /^evt_([0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{32})$/,
  'must be an event id: evt_ and 26 or 32 characters',
).meta({ example: 'evt_01M7VZGC008Q2R7V9X1C4E6H8K' });

export const conformanceRunId = text(
  new RegExp(`^cfr_${ULID}$`),
  'must be a conformance run id: cfr_ and a ULID',
).meta({ example: 'cfr_01M7VZGC008Q2R7V9X1C4E6H8Q' });

export const apiKeyId = branded<ApiKeyId>(
  text(/^[0-9a-f]{12}$/, 'must be an API key id: 12 lower-case hex characters')
    .refine(isApiKeyId)
    .meta({ description: 'The public id of an API key; not a secret.', example: '3fa1c09be742' }),
);

export const sha256 = branded<Sha256>(
  text(/^sha256:[0-9a-f]{64}$/, 'must be sha256: and 64 lower-case hex characters')
    .refine(isSha256)
    .meta({ example: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' }),
);

const time = (form: RegExp, parse: (value: string) => number | null) =>
  text(form, 'must be an RFC 3339 time in UTC such as 2026-11-20T08:00:00Z')
    .refine((value) => parse(value) !== null, {
      error: 'must be a day and time that exist',
      when: ({ issues }) => issues.length === 0,
    })
    .meta({ format: 'date-time', example: '2026-11-20T08:00:00.000Z' });

/** A time as the service writes it. */
export const timestamp = time(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z$/, parseUtcTime);

/** A time as the service accepts it: UTC in every spelling of RFC 3339. */
export const timestampOfAnySpelling = time(
  /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]00:00)$/,
  parseAnyUtcTime,
);

export const currency = text(/^[A-Z]{3}$/, 'must be three upper-case letters (ISO 4217) such as USD');
export const slug = text(
  SLUG,
  'must be a lower-case DNS label: 1 to 63 of a-z, 0-9 and -, not beginning or ending with -',
);
export const uri = text(/^https?:\/\/\S+$/, 'must be an absolute http or https URL').meta({ format: 'uri' });

/** An absolute http or https URL of limited length. The service checks which URLs it may request. */
export const url = (most: number) =>
  text(
    new RegExp(`^(?=.{1,${most}}$)https?:\\/\\/\\S+$`),
    `must be an absolute URL of at most ${most} characters`,
  ).meta({ format: 'uri', maxLength: most });

/** The public half of an Ed25519 key as Multikey text. The service checks whether the point is admissible. */
export const publicKeyMultibase = text(
  new RegExp(`^z6Mk${BASE58}{44}$`),
  'must be an Ed25519 public key as multibase text: z6Mk and 44 base58 characters',
);
export const keyFragment = text(
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
  'must be a key fragment of 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-", without "#"',
);
export const keyId = text(
  /^did:[^#\s]+#[^#\s]+$/,
  'must be a DID URL that names a key: did:web:<domain>#<fragment>',
);
/** A key id in a path: limited length, printable ASCII only. */
export const signingKeyId = text(
  /^did:web:[A-Za-z0-9._:%-]{1,500}#[\x21\x22\x24-\x7e]{1,512}$/,
  'must be the DID URL of a key: did:web:<domain>#<fragment>',
).meta({ example: 'did:web:acme.example#key-1' });
export const compactJws = text(
  /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/,
  'must be a compact JWS: three base64url parts',
);
export const apiKey = text(/^dk_[a-z]+(_[a-z]+)?_[0-9A-Za-z]{49}$/, 'must be an API key').meta({
  description: 'The secret itself. It is shown only in this answer.',
});

/** Protocol §7: identifies one logical request, so that a lost answer can be fetched again. */
export const idempotencyKey = text(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 of A-Z, a-z, 0-9, "_" and "-"');
/** Header of an answer to a request that had an idempotency key. */
export const repeatHeader = {
  'Svc-Idempotent-Replay': '`true` if this is the stored answer to an earlier request with the same key.',
};

/**
 * One line with a limited number of characters. The API reference has the pattern in a form without flags, because JSON
 * Schema has none.
 */
export const oneLine = (least: number, most: number, message: string) =>
  text(new RegExp(`^[^\\p{Cc}]{${least},${most}}$`, 'u'), message).meta({
    pattern: `^[^\\u0000-\\u001f\\u007f-\\u009f]{${least},${most}}$`,
  });

/** Text of several lines. Other control characters are useless, and each takes six characters in JSON. */
export const prose = (most: number) =>
  text(
    new RegExp(`^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]{0,${most}}$`, 'u'),
    `must be at most ${most} characters, without control characters other than tab and line ends`,
  ).meta({ pattern: `^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]{0,${most}}$` });

/** something@host.domain without white space. Whether the address receives mail is not checked. */
export const emailAddress = text(
  /^(?=.{1,200}$)[!-?A-~\u00a1-\uffff]+@[!-?A-~\u00a1-\uffff]+\.[!-?A-~\u00a1-\uffff]+$/,
  'must be an email address of at most 200 characters',
).meta({ format: 'email' });

/** Free text for people. */
export const displayName = oneLine(1, 200, 'must be 1 to 200 characters without control characters');

/** The owner's note on an API key. */
export const label = oneLine(0, 100, 'must be at most 100 characters without control characters');

/** The value of a filter that is compared exactly. */
export const searchText = oneLine(1, 512, 'must be 1 to 512 characters without control characters');

/** A member that is an integer from `minimum` to `maximum`. */
export const integer = (minimum: number, maximum: number) => {
  const error = `must be an integer from ${minimum} to ${maximum}`;
  return z.int({ error }).min(minimum, { error }).max(maximum, { error });
};

/** The last instant that RFC 3339 can write: the last millisecond of the year 9999. */
const LAST_INSTANT_MS = 253_402_300_799_999;

/**
 * A time, converted to milliseconds since the epoch. The service dates in milliseconds, so a time between two of them
 * becomes the later one.
 */
export const instant = timestampOfAnySpelling
  .transform((value) => {
    const [, beyondMs = '0'] = /\.[0-9]{3}([0-9]+)/.exec(value) ?? [];
    // The format has been checked, so the time exists.
    return Math.min((parseAnyUtcTime(value) ?? Number.NaN) + (Number(beyondMs) > 0 ? 1 : 0), LAST_INSTANT_MS);
  })
  .meta({ type: 'string', format: 'date-time', example: '2026-11-20T08:00:00Z' });

export const cursor = text(/^[\x21-\x7e]{1,512}$/, 'must be the next_cursor of the previous page').meta({
  description: 'The `next_cursor` of the previous page.',
});

/** A query parameter that is an integer from `minimum` to `maximum`: parsed from text to a number. */
export const queryInteger = (minimum: number, maximum: number, fallback: number) => {
  const message = `must be an integer from ${minimum} to ${maximum}`;
  return text(/^(0|[1-9][0-9]{0,9})$/, message)
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, { error: message })
    .default(fallback)
    .meta({ type: 'integer', minimum, maximum, default: fallback });
};

/** Protocol §13: the page size of every list. */
export const pageLimit = queryInteger(1, 200, 50);

/** A JSON object that is passed on unchanged: the same object, including own `__proto__` members. */
export const jsonObject = z
  .custom<{ readonly [name: string]: unknown }>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    { error: 'must be a JSON object' },
  )
  .meta({ type: 'object', additionalProperties: true });
