/**
 * Compact JWS (RFC 7515 §7.1) in the one form accepted here (protocol §1): three canonical base64url parts, of which
 * header and payload are strict JSON objects. Parsing proves nothing about the signature. Which header members and
 * claims are allowed is decided for each kind of token elsewhere.
 */
import { decodeBase64url, encodeBase64url } from './base64url.ts';
import { decodeBase64urlText, encodeBase64urlText } from './base64url-text.ts';
import { BoundedMemo } from './bounded-memo.ts';
import { jcs } from './jcs.ts';
import { isJsonObject, type JsonObject } from './json.ts';
import { parseStrictJson } from './strict-json.ts';
import { encodeUtf8 } from './utf8.ts';

/** A parsed compact JWS (RFC 7515 §7.1). Nothing in it has been verified. */
export interface ParsedJws {
  readonly ok: true;
  /** Unauthenticated, like the payload, until the signature over `signingInput` verifies. */
  readonly header: JsonObject;
  readonly payload: JsonObject;
  /** The first two parts as received, dot included: ASCII, exactly what was signed. */
  readonly signingInput: string;
  readonly signature: Uint8Array;
}

/** The parsed token, or `problem`: what is wrong, as a phrase for a message. */
export type ParseJwsResult = ParsedJws | { readonly ok: false; readonly problem: string };

/** Parses the token. `maxChars` bounds the text before anything is decoded. */
export const parseCompactJws = (text: string, maxChars: number): ParseJwsResult => {
  if (text.length > maxChars) return refuse(`longer than ${maxChars} characters`);
  const firstDot = text.indexOf('.');
  const lastDot = text.lastIndexOf('.');
  // With more than three parts, the payload part contains a dot, which is not a base64url character.
  if (firstDot === lastDot) return refuse('not three parts');
  const signature = decodeBase64url(text.slice(lastDot + 1));
  if (signature === null) return refuse('signature: not canonical base64url');
  const header = parseObjectPart(text.slice(0, firstDot));
  if (typeof header === 'string') return refuse(`header: ${header}`);
  const payload = parseObjectPart(text.slice(firstDot + 1, lastDot));
  if (typeof payload === 'string') return refuse(`payload: ${payload}`);
  return { ok: true, header, payload, signingInput: text.slice(0, lastDot), signature };
};

/**
 * The `kid` in the header; null if the text is not a JWS or its header has no `kid`. Nothing in it has been verified.
 */
export const kidOfJws = (jws: string, maxChars: number): string | null => {
  const parsed = parseCompactJws(jws, maxChars);
  return parsed.ok && typeof parsed.header.kid === 'string' ? parsed.header.kid : null;
};

/** The DID of a key's DID URL. */
export const didOfKid = (kid: string): string => kid.split('#', 1)[0] ?? '';

/** The JSON object in one part, or what is wrong with it. */
const parseObjectPart = (part: string): JsonObject | string => {
  const text = decodeBase64urlText(part);
  if (text === null) return decodeBase64url(part) === null ? 'not canonical base64url' : 'not UTF-8';
  const parsed = parseStrictJson(text);
  if (!parsed.ok) return parsed.problem;
  return isJsonObject(parsed.value) ? parsed.value : 'not an object';
};

const refuse = (problem: string): ParseJwsResult => ({ ok: false, problem });

/** Signs with one Ed25519 key, which it holds or reaches, for example in a key management service. */
export interface Signer {
  /** The DID URL of the key. */
  readonly kid: string;
  /** The 64-byte Ed25519 signature over exactly these bytes. */
  sign(bytes: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

/**
 * Signs `payload`, an object or its JCS text, under the header `{alg: EdDSA, kid, typ}` in JCS form, so that the same
 * key and input give the same bytes. Rejects with the signer's error, or if the signer does not return 64 bytes.
 */
export const signCompactJws = async (
  signer: Signer,
  header: { readonly typ: string },
  payload: JsonObject | string,
): Promise<string> => {
  const body = typeof payload === 'string' ? payload : jcs(payload);
  const signingInput = `${encodedHeaderOf(signer.kid, header.typ)}.${encodeBase64urlText(body)}`;
  const signature = await signer.sign(encodeUtf8(signingInput));
  if (signature.length !== 64) throw new RangeError('the signer returned other than 64 bytes');
  return `${signingInput}.${encodeBase64url(signature)}`;
};

/** Number of encoded headers that stay in memory: a process signs with few keys. */
const MAX_HEADERS = 64;
const encodedHeaders = /* @__PURE__ */ new BoundedMemo<string>(MAX_HEADERS);

const encodedHeaderOf = (kid: string, typ: string): string => {
  const name = `${typ.length} ${typ}${kid}`;
  const known = encodedHeaders.find(name);
  if (known !== undefined) return known;
  const encoded = encodeBase64urlText(jcs({ alg: 'EdDSA', kid, typ }));
  encodedHeaders.insert(name, encoded);
  return encoded;
};
