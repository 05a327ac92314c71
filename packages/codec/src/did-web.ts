/**
 * did:web (did:web Method Specification), restricted so that a DID cannot resolve to another host or path than its text
 * shows: only `did:web:<host>[%3A<port>][:<segment>…]`. The host is a lower-case LDH name, never an IP literal in any
 * notation. Segments contain plain characters. The only percent-escape is the `%3A` before a port. The caller decides
 * whether a port is allowed.
 */
import { BoundedMemo } from './bounded-memo.ts';
import type { Branded } from './branded.ts';

/** A did:web DID that has passed `parseDidWeb`. It identifies a Principal, a relying party or a service. */
export type DidWeb = Branded<'DidWeb'>;

const PREFIX = 'did:web:';
/** The maximum length of a did:web DID, in characters. */
export const DID_WEB_MAX_CHARS = 512;
const MAX_HOST_CHARS = 253;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** If the last label is one that URL parsers read as a number, they take the whole host for an IPv4 address. */
const NUMERIC_LABEL = /^(?:[0-9]+|0x[0-9a-f]*)$/;
const PORT = /^[1-9][0-9]{0,4}$/;
const SEGMENT = /^[A-Za-z0-9._-]+$/;

/** A parsed did:web DID, with the parts needed to fetch its document. */
export interface ParsedDidWeb {
  readonly did: DidWeb;
  /** Lower-case host name without the port. */
  readonly host: string;
  readonly port: number | null;
  /** Path segments in order; empty for a bare domain. */
  readonly path: readonly string[];
}

/** The same Principals and relying parties occur in many requests. An entry takes at most some 2 KB. */
const MEMO_ENTRIES = 10_000;
const parsedDids = /* @__PURE__ */ new BoundedMemo<ParsedDidWeb>(MEMO_ENTRIES);

/** The parts of a did:web DID, or null. A DID URL (path, query or fragment after the DID) is refused. */
export const parseDidWeb = (text: string): ParsedDidWeb | null => {
  if (text.length > DID_WEB_MAX_CHARS || !text.startsWith(PREFIX)) return null;
  const known = parsedDids.find(text);
  if (known !== undefined) return known;
  // A new string: the received one may be a slice of a larger text and would keep all of that in memory.
  const parsed = parse(`${PREFIX}${text.slice(PREFIX.length)}`);
  if (parsed !== null) parsedDids.insert(parsed.did, parsed);
  return parsed;
};

const parse = (text: string): ParsedDidWeb | null => {
  const [authority = '', ...path] = text.slice(PREFIX.length).split(':');
  const [host = '', portText, ...rest] = authority.split('%3A');
  if (rest.length > 0 || !isHostName(host) || !path.every(isSegment)) return null;
  const port = portText === undefined ? null : parsePort(portText);
  if (Number.isNaN(port)) return null;
  return Object.freeze({ did: text as DidWeb, host, port, path: Object.freeze(path) });
};

/** The URL of the DID document. `http` is for development only. */
export const didWebDocumentUrl = (parsed: ParsedDidWeb, scheme: 'https' | 'http' = 'https'): string => {
  const authority = parsed.port === null ? parsed.host : `${parsed.host}:${parsed.port}`;
  const path = parsed.path.length === 0 ? '.well-known' : parsed.path.join('/');
  return `${scheme}://${authority}/${path}/did.json`;
};

const isHostName = (host: string): boolean => {
  if (host.length > MAX_HOST_CHARS) return false;
  const labels = host.split('.');
  return labels.every((label) => LABEL.test(label)) && !NUMERIC_LABEL.test(labels.at(-1) ?? '');
};

const isSegment = (segment: string): boolean => SEGMENT.test(segment) && segment !== '.' && segment !== '..';

const parsePort = (text: string): number => {
  const port = PORT.test(text) ? Number(text) : Number.NaN;
  return port <= 65_535 ? port : Number.NaN;
};
