/**
 * Identifiers of the interface as branded strings (interface §Identifier and value formats). Only the parser of a type
 * makes values of it.
 */
import { type Branded, ULID_PATTERN } from '@svc/codec';

/** `urn:svc:grant:` and a ULID. */
export type GrantId = Branded<'GrantId'>;
/** `drc_` and a ULID, whose time is that of the evaluation. */
export type ReceiptId = Branded<'ReceiptId'>;
/** `org_` and a ULID. */
export type OrgId = Branded<'OrgId'>;
/** 12 lower-case hex characters: the public name of an API key, not a secret. */
export type ApiKeyId = Branded<'ApiKeyId'>;

const ULID = new RegExp(`^${ULID_PATTERN}$`);
const API_KEY_ID = /^[0-9a-f]{12}$/;

const isUlidBehind = (prefix: string, text: unknown): boolean =>
  typeof text === 'string' && text.startsWith(prefix) && ULID.test(text.slice(prefix.length));

/** Whether a value has the form of a Grant id. */
export const isGrantId = (text: unknown): text is GrantId => isUlidBehind('urn:svc:grant:', text);
/** Whether a value has the form of a Receipt id. */
export const isReceiptId = (text: unknown): text is ReceiptId => isUlidBehind('drc_', text);
/** Whether a value has the form of an org id. */
export const isOrgId = (text: unknown): text is OrgId => isUlidBehind('org_', text);
/** Whether a value has the form of the id of an access request: `arq_` and a ULID. */
export const isAccessRequestId = (text: unknown): text is string => isUlidBehind('arq_', text);
/** Whether a value has the form of the id of an audit event: `aud_` and a ULID. */
export const isAuditEventId = (text: unknown): text is string => isUlidBehind('aud_', text);
/** Whether a value has the form of the id of an event subscription: `whs_` and a ULID. */
export const isSubscriptionId = (text: unknown): text is string => isUlidBehind('whs_', text);
/** Whether a value has the form of an API key id. */
export const isApiKeyId = (text: unknown): text is ApiKeyId =>
  typeof text === 'string' && API_KEY_ID.test(text);

/** The ULID inside a Grant or Receipt id: its last 26 characters. */
export const ulidOf = (id: GrantId | ReceiptId | OrgId): string => id.slice(-26);
