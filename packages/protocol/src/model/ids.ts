/**
 * Identifiers of the interface as branded strings (interface §Identifier and value formats). A value of one of
 * these types has passed its parser; nothing else mints one.
 */
import { type Branded, ULID_PATTERN } from '@svc/codec';

/** `urn:svc:grant:` and a ULID. */
export type GrantId = Branded<'GrantId'>;
/** `drc_` and a ULID, whose time is that of the evaluation. */
export type ReceiptId = Branded<'ReceiptId'>;
/** `org_` and a ULID. */
export type OrgId = Branded<'OrgId'>;
/** 12 lower-case hex characters: the public name of an API key, no secret. */
export type ApiKeyId = Branded<'ApiKeyId'>;

const GRANT_ID = new RegExp(`^urn:svc:grant:${ULID_PATTERN}$`);
const RECEIPT_ID = new RegExp(`^drc_${ULID_PATTERN}$`);
const ORG_ID = new RegExp(`^org_${ULID_PATTERN}$`);
const API_KEY_ID = /^[0-9a-f]{12}$/;

/** Whether a value has the form of a Grant id. */
export const isGrantId = (text: unknown): text is GrantId => typeof text === 'string' && GRANT_ID.test(text);
/** Whether a value has the form of a Receipt id. */
export const isReceiptId = (text: unknown): text is ReceiptId =>
  typeof text === 'string' && RECEIPT_ID.test(text);
/** Whether a value has the form of an org id. */
export const isOrgId = (text: unknown): text is OrgId => typeof text === 'string' && ORG_ID.test(text);
/** Whether a value has the form of an API key id. */
export const isApiKeyId = (text: unknown): text is ApiKeyId =>
  typeof text === 'string' && API_KEY_ID.test(text);

/** The ULID inside a Grant or Receipt id: its last 26 characters. */
export const ulidOf = (id: GrantId | ReceiptId | OrgId): string => id.slice(-26);
