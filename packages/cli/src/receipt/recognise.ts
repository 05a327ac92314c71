/** What somebody has been handed: a Receipt, a bundle, a bare JWS, or something that is neither, by name. */
import { isJsonObject, type JsonObject, parseCompactJws, parseStrictJson } from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import { UsageError } from '../options.ts';

export type Given =
  /** The text of a Receipt, or what is judged as one. */
  | { readonly kind: 'receipt'; readonly receipt: unknown }
  | { readonly kind: 'bundle'; readonly text: string; readonly bundle: JsonObject };

const MAX_JWS_CHARS = 1_048_576;

/** What is no Receipt and easily taken for one, by a member that it has. */
const OTHERS: readonly (readonly [member: string, what: string])[] = [
  ['audit_path', 'the inclusion proof of a Receipt (--inclusion)'],
  ['verificationMethod', 'a DID document (--did-document)'],
  ['leaves_url', 'a checkpoint (--checkpoint)'],
  ['attestation', 'an attestation (--attestation)'],
  ['capability', 'a Grant'],
];

/** What is not recognised is judged as a Receipt, which says what is wrong with it. Throws UsageError for what is something else. */
export const recognise = (text: string): Given => {
  const json = parseStrictJson(text);
  if (!json.ok) return { kind: 'receipt', receipt: receiptOfJws(text.trim()) ?? text };
  if (!isJsonObject(json.value)) return { kind: 'receipt', receipt: text };
  const { value } = json;
  if (isJsonObject(value.receipt) && 'did_document' in value && 'inclusion' in value)
    return { kind: 'bundle', text, bundle: value };
  const { receipt, outcomes, ...others } = value;
  // The answer of GET /decisions/{receipt_id}.
  if (isJsonObject(receipt) && Array.isArray(outcomes) && Object.keys(others).length === 0)
    return { kind: 'receipt', receipt };
  const other = 'receipt_version' in value ? undefined : OTHERS.find(([member]) => member in value);
  if (other !== undefined) throw new UsageError(`this is ${other[1]}, and no Receipt or bundle`);
  return { kind: 'receipt', receipt: text };
};

/** As JSON text; null where it is no Receipt's. Throws UsageError for the JWS of something else. */
const receiptOfJws = (text: string): string | null => {
  const jws = parseCompactJws(text, MAX_JWS_CHARS);
  if (!jws.ok) return null;
  const receipt = receiptTextOf(text);
  if (receipt !== null) return receipt;
  const { typ } = jws.header;
  if (typeof typ === 'string' && typ !== 'svc-receipt+jwt')
    throw new UsageError(`this JWS is a ${typ}, and no Receipt (svc-receipt+jwt)`);
  return null;
};

/** The DID of the service that a Receipt says has signed it; null where it says none. */
export const serviceOf = (receipt: unknown): string | null => {
  const { receipt: jws } = asObject(receipt);
  const parsed = typeof jws === 'string' ? parseCompactJws(jws, MAX_JWS_CHARS) : null;
  const kid = parsed?.ok ? parsed.header.kid : null;
  return typeof kid === 'string' ? (kid.split('#', 1)[0] ?? null) : null;
};

/** Its own id; null where it has none that could be asked for. */
export const receiptIdOf = (receipt: unknown): string | null => {
  const { receipt_id: id } = asObject(receipt);
  return typeof id === 'string' && /^drc_[0-9A-HJKMNP-TV-Z]{26}$/.test(id) ? id : null;
};

const asObject = (receipt: unknown): Readonly<Record<string, unknown>> => {
  const json = typeof receipt === 'string' ? parseStrictJson(receipt) : null;
  const value = json?.ok ? json.value : receipt;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
};
