/**
 * One public text in the content codings that a client may accept (RFC 9110 §8.4, §12.5.3). Only for texts that are the
 * same for everybody. If an answer contains a secret beside text that an attacker chose, the compressed length reveals
 * the secret (BREACH). So no text that is made for one caller goes through here.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, gzip, gzipSync, constants as zlib } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Answer } from './exchange.ts';

export type Coding = 'br' | 'gzip';

/** The plain text and its encoded forms. A coding that is missing is not offered. */
export interface Representations {
  readonly identity: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** The request headers that select a representation. */
export interface Wishes {
  /** The `Accept` header; ignored if there is only one type. */
  readonly accept?: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** In texts of fewer bytes, the additional header outweighs what compression saves. */
const MIN_BYTES = 1_024;

/** For texts of some kilobytes, at start. */
export const encodeSmall = (identity: Buffer): Representations =>
  identity.length < MIN_BYTES
    ? { identity }
    : { identity, br: brotliCompressSync(identity, MIDDLING), gzip: gzipSync(identity) };

/** Runs off the event loop. */
export const encode = async (identity: Buffer): Promise<Representations> => {
  if (identity.length < MIN_BYTES) return { identity };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, MIDDLING),
    promisify(gzip)(identity),
  ]);
  return { identity, br, gzip: zipped };
};

/** One text for one client, in the best coding that the client accepts. */
export const encodeFor = async (
  acceptEncoding: string | undefined,
  text: string | Uint8Array,
): Promise<{ readonly body: string | Uint8Array; readonly coding: Coding | null }> => {
  const accepted = acceptedCodings(acceptEncoding);
  if (Buffer.byteLength(text) < MIN_BYTES) return { body: text, coding: null };
  if (accepted.includes('br')) return { body: await promisify(brotliCompress)(text, QUICK), coding: 'br' };
  if (accepted.includes('gzip')) return { body: await promisify(gzip)(text), coding: 'gzip' };
  return { body: text, coding: null };
};

const QUICK = { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } };
/** The result is a tenth larger than at quality 11, in a fiftieth of the time. */
const MIDDLING = { params: { [zlib.BROTLI_PARAM_QUALITY]: 7 } };

/**
 * Answers with the text in the best coding that the client accepts, or with 304 if the client has exactly this text.
 */
export const represent = (
  representations: Representations,
  head: { readonly contentType: string; readonly headers: Readonly<Record<string, string>> },
): ((wishes: Wishes) => Answer) => {
  const { identity, br, gzip: zipped } = representations;
  const etag = createHash('sha256').update(identity).digest('base64url').slice(0, 22);
  const answers = {
    identity: answersFor(identity, `"${etag}"`, head),
    ...(br !== undefined && { br: answersFor(br, `"${etag}-br"`, head, 'br') }),
    ...(zipped !== undefined && { gzip: answersFor(zipped, `"${etag}-gzip"`, head, 'gzip') }),
  };
  const available = (['br', 'gzip'] as const).filter((coding) => answers[coding] !== undefined);
  return ({ acceptEncoding, ifNoneMatch }) => {
    const accepted = acceptedCodings(acceptEncoding);
    const chosen = available.find((coding) => accepted.includes(coding)) ?? 'identity';
    const { etag, found, unchanged } = answers[chosen] ?? answers.identity;
    return ifNoneMatch !== undefined && names(ifNoneMatch, etag) ? unchanged : found;
  };
};

/** Characters, far more than any browser sends. Parsing a header of the maximum length would take milliseconds. */
const MAX_WISH = 1_024;

/**
 * The media type that an `Accept` header prefers, the first of `types` if several are equal. Undefined if the header
 * accepts none, or is longer than 1,024 characters.
 */
export const preferredType = (accept: string | undefined, types: string[]): string | undefined =>
  accept !== undefined && accept.length > MAX_WISH
    ? undefined
    : new Negotiator({ headers: { accept: accept ?? '*/*' } }).mediaTypes(types)[0];

/** Without the header any coding may be sent (RFC 9110 §12.5.3), but such a client may not support any. */
const acceptedCodings = (acceptEncoding: string | undefined): readonly string[] =>
  acceptEncoding === undefined || acceptEncoding.length > MAX_WISH
    ? []
    : new Negotiator({ headers: { 'accept-encoding': acceptEncoding } }).encodings([
        'br',
        'gzip',
        'identity',
      ]);

const answersFor = (
  body: Buffer,
  etag: string,
  { contentType, headers: own }: Parameters<typeof represent>[1],
  coding?: Coding,
) => {
  const headers = { ...own, ETag: etag, Vary: 'Accept-Encoding' };
  const found: Answer = {
    status: 200,
    contentType,
    body,
    headers: { ...headers, ...(coding !== undefined && { 'Content-Encoding': coding }) },
  };
  const unchanged: Answer = { status: 304, body: '', headers };
  return { etag, found, unchanged };
};

/** RFC 9110 §13.1.2: any entry of a list may match, by weak comparison. */
const names = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
