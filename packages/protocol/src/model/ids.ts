/**
 * Identifiers of the interface as branded strings (interface §Identifier and value formats). A value of one of
 * these types has passed its parser; nothing else mints one.
 */
import { type Branded, ULID_PATTERN } from '@svc/codec';

export type GrantId = Branded<'GrantId'>;
export type ReceiptId = Branded<'ReceiptId'>;
export type OrgId = Branded<'OrgId'>;
export type ApiKeyId = Branded<'ApiKeyId'>;

const GRANT_ID = new RegExp(`^urn:svc:grant:${ULID_PATTERN}$`);
const RECEIPT_ID = new RegExp(`^drc_${ULID_PATTERN}$`);
const ORG_ID = new RegExp(`^org_${ULID_PATTERN}$`);
const API_KEY_ID = /^[0-9a-f]{12}$/;

export const isGrantId = (text: unknown): text is GrantId => typeof text === 'string' && GRANT_ID.test(text);
export const isReceiptId = (text: unknown): text is ReceiptId =>
  typeof text === 'string' && RECEIPT_ID.test(text);
export const isOrgId = (text: unknown): text is OrgId => typeof text === 'string' && ORG_ID.test(text);
export const isApiKeyId = (text: unknown): text is ApiKeyId =>
  typeof text === 'string' && API_KEY_ID.test(text);

/** The ULID inside a Grant or Receipt id: its last 26 characters. */
export const ulidOf = (id: GrantId | ReceiptId | OrgId): string => id.slice(-26);
