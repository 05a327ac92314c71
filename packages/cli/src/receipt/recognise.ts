/** Recognises what an input is: a Receipt, a bundle, a bare JWS, or something else, which the error names. */
import { show } from '@svc/codec';
import {
  isJsonObject,
  isReceiptId,
  type JsonObject,
  type JsonValue,
  parseCompactJws,
  parseStrictJson,
} from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import { UsageError } from '../command-line.ts';

export type Given =
  /** The text of a Receipt, or a value that is checked as one. */
  | { readonly kind: 'receipt'; readonly receipt: unknown }
  | { readonly kind: 'bundle'; readonly text: string; readonly bundle: JsonObject };

const MAX_JWS_CHARS = 1_048_576;

/** Things that are easily mistaken for a Receipt, recognised by a member that they have. */
const OTHERS: readonly (readonly [member: string, what: string])[] = [
  ['audit_path', 'the inclusion proof of a Receipt (--inclusion)'],
  ['verificationMethod', 'a DID document (--did-document)'],
  ['leaves_url', 'a checkpoint (--checkpoint)'],
  ['attestation', 'an attestation (--attestation)'],
  ['capability', 'a Grant'],
];

/**
 * One of these members suffices: a Receipt that has lost some of its members is an invalid Receipt, not something else.
 */
const OF_A_RECEIPT = ['receipt', 'receipt_version', 'decision'];

/**
 * An input with any member of a Receipt or bundle is checked as one, and the check says what is wrong with it. For all
 * other inputs throws UsageError: nothing was read that could be judged, so the result is "could not decide".
 */
export const recognise = (text: string): Given => {
  const value = readJson(text);
  if (value === undefined) return { kind: 'receipt', receipt: getReceiptOfJws(text.trim()) };
  // Some programs print a text as a JSON string.
  if (typeof value === 'string') return { kind: 'receipt', receipt: getReceiptOfJws(value) };
  if (!isJsonObject(value)) throw unrecognised('JSON, and no object');
  if ('did_document' in value && 'inclusion' in value) return { kind: 'bundle', text, bundle: value };
  const { receipt, outcomes, ...others } = value;
  // The answer of GET /decisions/{receipt_id}.
  if (isJsonObject(receipt) && Array.isArray(outcomes) && Object.keys(others).length === 0)
    return { kind: 'receipt', receipt: parseStrictJson(text).ok ? receipt : text };
  if (OF_A_RECEIPT.some((member) => member in value)) return { kind: 'receipt', receipt: text };
  if (value.status === 'pending' && typeof value.day === 'string')
    throw new UsageError(`the day ${show(value.day)} is not closed yet: ask for the bundle later`);
  const other = OTHERS.find(([member]) => member in value);
  if (other !== undefined) throw new UsageError(`this is ${other[1]}, and no Receipt or bundle`);
  throw unrecognised('a JSON object without a member of a Receipt or a bundle');
};

const OF_A_BUNDLE = ['receipt', 'inclusion', 'checkpoint', 'did_document', 'evidence', 'status'];

/**
 * An input that is declared a bundle is checked as one if it has any member of a bundle. Throws UsageError if
 * `recognise` does not recognise it either.
 */
export const recogniseBundle = (text: string): Extract<Given, { kind: 'bundle' }> => {
  const value = readJson(text);
  const bundle = isJsonObject(value) ? value : {};
  if (!OF_A_BUNDLE.some((member) => member in bundle)) recognise(text);
  return { kind: 'bundle', text, bundle };
};

/**
 * Not only strict JSON: a Receipt with a duplicate member is an invalid Receipt, not something else. Undefined if it is
 * not JSON.
 */
const readJson = (text: string): JsonValue | undefined => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const unrecognised = (found: string): UsageError =>
  new UsageError(
    `this is ${found}, which is no evidence that could be judged; give a Receipt (as JSON or its JWS), the answer of GET /decisions/{receipt_id}, or a bundle`,
  );

/** The form of a JWS, whatever its parts contain. No JWS header is shorter than 20 characters. */
const JWS_SHAPE = /^[\w-]{20,}\.[\w-]*\.[\w-]*$/;

/**
 * The Receipt as JSON text if the JWS is that of a Receipt, else the text unchanged. Throws UsageError for another kind
 * of JWS, and for a text that is not a JWS.
 */
const getReceiptOfJws = (text: string): string => {
  const receipt = receiptTextOf(text);
  if (receipt !== null) return receipt;
  const jws = parseCompactJws(text, MAX_JWS_CHARS);
  const typ = jws.ok ? jws.header.typ : undefined;
  if (typeof typ === 'string' && typ !== 'svc-receipt+jwt')
    throw new UsageError(`this JWS is a ${typ}, and no Receipt (svc-receipt+jwt)`);
  if (JWS_SHAPE.test(text)) return text;
  throw unrecognised(describeText(text));
};

/** What a text is if it has neither the form of a JSON object nor that of a JWS; else null. */
export const findTextFault = (text: string): string | null =>
  isJsonObject(readJson(text)) || JWS_SHAPE.test(text.trim()) ? null : describeText(text.trim());

const describeText = (text: string): string => {
  const json = parseStrictJson(text);
  if (/^[{["]/.test(text) && !json.ok)
    return `JSON that breaks off or is damaged (${json.problem} at character ${json.offset})`;
  if (text.startsWith('<')) return 'an HTML or XML page';
  return text.startsWith('eyJ') ? 'a JWS that breaks off' : 'text, neither JSON nor a JWS';
};

/** The DID of the service that signed the Receipt, according to the Receipt; null if it names none. */
export const serviceOf = (receipt: unknown): string | null => {
  const { receipt: jws } = asObject(receipt);
  const parsed = typeof jws === 'string' ? parseCompactJws(jws, MAX_JWS_CHARS) : null;
  const kid = parsed?.ok ? parsed.header.kid : null;
  return typeof kid === 'string' ? (kid.split('#', 1)[0] ?? null) : null;
};

/** The Receipt's own id; null if it has no valid one. */
export const receiptIdOf = (receipt: unknown): string | null => {
  const { receipt_id: id } = asObject(receipt);
  return isReceiptId(id) ? id : null;
};

/** The hashes under which the Receipt names its evidence, at most three. */
export const evidenceNamedBy = (receipt: unknown): ReadonlySet<string> => {
  const { evidence } = asObject(receipt);
  const { issuer_resolution: document, status, consumption } = asObject(evidence);
  const hashes = [
    ...[asObject(document).did_document_hash, asObject(status).credential_hash],
    asObject(consumption).snapshot_hash,
  ];
  return new Set(hashes.filter((hash) => typeof hash === 'string'));
};

const asObject = (receipt: unknown): Readonly<Record<string, unknown>> => {
  const json = typeof receipt === 'string' ? parseStrictJson(receipt) : null;
  const value = json?.ok ? json.value : receipt;
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
};
