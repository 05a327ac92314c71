/**
 * One public text in the codings that a client may take (RFC 9110 §8.4, §12.5.3). Only for texts that are the same for
 * everybody: in an answer that holds a secret beside what somebody else chose, the length of the compressed body tells of
 * the secret (BREACH), so nothing that is made for a caller goes through here.
 */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, gzip, gzipSync, constants as zlib } from 'node:zlib';
import Negotiator from 'negotiator';
import type { Answer } from './exchange.ts';

export type Coding = 'br' | 'gzip';

/** The text as it is, and encoded. Where a coding is missing it is not offered. */
export interface Representations {
  readonly identity: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** What an answer is chosen by. */
export interface Wishes {
  /** The `Accept` header; not looked at where there is one type alone. */
  readonly accept?: string | undefined;
  readonly acceptEncoding: string | undefined;
  readonly ifNoneMatch: string | undefined;
}

/** Below this many bytes the head of the answer weighs more than what is saved. */
const MIN_BYTES = 1_024;

/** For texts of some kilobytes, at start. */
export const encodeSmall = (identity: Buffer): Representations =>
  identity.length < MIN_BYTES
    ? { identity }
    : { identity, br: brotliCompressSync(identity, MIDDLING), gzip: gzipSync(identity) };

/** Off the event loop. */
export const encode = async (identity: Buffer): Promise<Representations> => {
  if (identity.length < MIN_BYTES) return { identity };
  const [br, zipped] = await Promise.all([
    promisify(brotliCompress)(identity, MIDDLING),
    promisify(gzip)(identity),
  ]);
  return { identity, br, gzip: zipped };
};

/** One text for one client, in the best coding that it takes. */
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
/** A tenth larger than at 11, at a fiftieth of the time. */
const MIDDLING = { params: { [zlib.BROTLI_PARAM_QUALITY]: 7 } };

/** Answers with the text in the best coding that the client takes, or 304 where the client holds just that. */
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

/** Characters; no browser's comes near. Reading a header as long as the head may be takes milliseconds. */
const MAX_WISH = 1_024;

/**
 * The media type that an `Accept` header wants most, the first in order where several are wanted alike; undefined where
 * it takes none, or is longer than 1,024 characters.
 */
export const preferredType = (accept: string | undefined, types: string[]): string | undefined =>
  accept !== undefined && accept.length > MAX_WISH
    ? undefined
    : new Negotiator({ headers: { accept: accept ?? '*/*' } }).mediaTypes(types)[0];

/** Without the field any coding may be sent (RFC 9110 §12.5.3), and who does not name one may not know one. */
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

/** RFC 9110 §13.1.2: any of a list, compared weakly. */
const names = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((one) => {
    const tag = one.trim();
    return tag === '*' || tag === etag || tag === `W/${etag}`;
  });
