/**
 * What the middlewares have in common: from a request's headers to its authority, or to the answer that refuses it.
 * Whatever goes wrong, the handler behind does not run.
 */
import { normalizeHtu } from '@svc/codec';
import {
  type Action,
  type Capability,
  GRANT_MAX_CHARS,
  isMethod,
  PROOF_MAX_CHARS,
  REASON_TEXTS,
  type ReasonCode,
} from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import {
  aFlag,
  aFunction,
  anObjectWith,
  helpBase,
  helpLink,
  helpUrlOf,
  isOrigin,
  optionally,
  type RefusalCode,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import { BODY_FAULTS, type BodyFault, findBodyFault, type WatchedBody } from './body-fault.ts';
import { type Mismatch, mismatchOf } from './request-mismatch.ts';
import type { SignatureCheck, SignedRequest } from './signature-check.ts';
import type { Verifier } from './verifier.ts';

/** What is used of a verifier. */
export type AskedVerifier = Pick<Verifier, 'verify'> & Partial<Pick<Verifier, 'publicUrl'>>;

interface CommonOptions<Req> {
  /** One that has its `publicUrl` has refusals link to the guide. */
  verifier: AskedVerifier;
  /** What the request would do, in this relying party's own words. What it throws goes to the framework. */
  action: (request: Req) => Action | Promise<Action>;
  /**
   * Demands that the request be signed by the key of its Proof: `sameKey()` of `@svc/sdk-rp/web-bot-auth`. Not demanded
   * unless given.
   */
  signature?: SignatureCheck;
  /**
   * Whether addresses may end in a slash. Many routers serve `/items/` by the route of `/items`, and a Grant for `/items/*` is one for
   * `/items/` too: only for a router that tells the two apart. Answered 400 unless true.
   */
  allowTrailingSlash?: boolean;
  /** Told why an answer is 503, which itself does not say, or 500. One line with `console.error` unless given. */
  onError?: (error: unknown, request: Req) => void;
}

/**
 * The URL that an Agent signs for is the public one. Give `origin` if it is always the same; behind proxies that
 * change the path, or with several origins, give `url`. A `Host` header is whatever the caller wrote: never build
 * the URL from it without a list of the hosts that are yours.
 */
export type AuthorityOptions<Req> = CommonOptions<Req> &
  (
    | { /** Scheme, host and port of this relying party as Agents address it. */ origin: string; url?: never }
    | {
        /** The absolute URL of the request as the Agent addressed it. */ url: (request: Req) => string;
        origin?: never;
      }
  );

/** What the handler may rely on. */
export interface SvcAuthority {
  /** The Capability that authorised this Action. */
  authority: Capability;
  /** The Receipt of this ALLOW, whose signature has been verified. */
  receipt: Receipt;
  /** The id of that Receipt, `drc_…`. */
  receiptId: string;
  /** did:key DID of the Agent that signed the Proof, as the Receipt has it. */
  agent: string | undefined;
  /** did:web DID of the Principal that issued the Grant, as the Receipt has it. */
  principal: string | undefined;
  /** The id of the Grant, `urn:svc:grant:…`, as the Receipt has it. */
  grantId: string | undefined;
}

/**
 * The authority that a middleware left on the request.
 * @throws SvcError `configuration` where none has run: a handler mounted without it must not go on.
 */
export function getAuthority(request: object): SvcAuthority {
  const { svc } = request as { svc?: SvcAuthority };
  if (svc === undefined) throw new SvcError('configuration', 'requireAuthority has not run for this request');
  return svc;
}

/** The HTTP answer to a request that is not authorised. */
export interface Refusal {
  /**
   * 401: Grant or Proof is missing. 403: a DENY, or a Proof for another request. 400, 413, 415: the request is malformed. 500: this
   * server is set up wrongly. 503: authority could not be verified.
   */
  status: 400 | 401 | 403 | 413 | 415 | 500 | 503;
  /** Lower-case names. */
  headers: Record<string, string>;
  /** JSON. `reason` says why a 403 was given, `receipt_id` names the Receipt of a DENY. */
  body: { error: RefusalCode; message: string; reason?: ReasonCode | RefusalCode; receipt_id?: string };
}

/** Whether a request may go on: with the authority that its handler may rely on, or the answer that refuses it. */
export type Authorization = { ok: true; svc: SvcAuthority } | { ok: false; refusal: Refusal };

export interface Presented<Req> {
  request: Req;
  grant: unknown;
  proof: unknown;
  method: string;
  /** The path and query as received, for `origin`. */
  target: string;
  /** The headers as received, where they are asked for. */
  fields: () => SignedRequest['fields'];
  /** Begun before `action`: what it then reads of the body. */
  watch: () => WatchedBody;
  /** A copy of the request for `action` where reading it would use it up. */
  forAction: Req;
}

/** All that `AuthorityOptions` may hold, in whichever of its forms. */
interface AnyOptions<Req> extends CommonOptions<Req> {
  origin?: string;
  url?: (request: Req) => string;
}

const anOrigin = rule(
  "this relying party's http or https address as scheme://host[:port], without a path",
  isOrigin,
);

const rulesFor = <Req>(): Rules<AnyOptions<Req>> => ({
  verifier: anObjectWith('a verifier, as createVerifier makes it', [], ['verify']),
  action: aFunction('a function from the request to its Action'),
  signature: optionally(
    anObjectWith('a check, as sameKey of @svc/sdk-rp/web-bot-auth makes it', ['accepts'], ['check']),
  ),
  allowTrailingSlash: optionally(aFlag),
  onError: optionally(aFunction()),
  origin: optionally(anOrigin),
  url: optionally(aFunction('a function from the request to its absolute URL')),
});

/**
 * A copy of the options, checked. `at` is what the caller called.
 * @throws SvcError `configuration`
 */
export function checkOptions<Req>(at: string, options: AuthorityOptions<Req>): AuthorityOptions<Req> {
  const read = readArgument<AnyOptions<Req>>(at, options, rulesFor<Req>(), 'configuration');
  const { origin, url, ...common } = read;
  if (origin !== undefined && url === undefined) return { ...common, origin };
  if (url !== undefined && origin === undefined) return { ...common, url };
  throw new SvcError('configuration', `${at}: pass either origin, as scheme://host[:port], or url`);
}

function tellError<Req>(
  { onError }: CommonOptions<Req>,
  answer: 500 | 503,
  error: unknown,
  request: Req,
): void {
  if (onError === undefined) logError(error, answer);
  else onError(error, request);
}

/** One line, of which nothing is secret: what an unknown error says may be. */
function logError(error: unknown, answer: 500 | 503): void {
  const status = error instanceof SvcError && error.status !== null ? ` ${error.status}` : '';
  const told =
    error instanceof SvcError
      ? `${error.kind}${status}: ${error.message}`
      : `${error instanceof Error ? error.name : typeof error}; pass onError to see it`;
  console.error(
    `[svc] authority could not be verified, answered ${answer}: ${told.replace(/[\s\p{Cc}]+/gu, ' ')}`,
  );
}

/**
 * Rejects only with what `action`, `url` or `onError` throws. A refusal links to the page about it, where the service's
 * address is known.
 */
export async function authorize<Req>(
  options: AuthorityOptions<Req>,
  presented: Presented<Req>,
): Promise<Authorization> {
  const authorization = await decide(options, presented);
  const base = helpBase(options.verifier.publicUrl);
  if (authorization.ok || base === null) return authorization;
  const { refusal } = authorization;
  const headers = { ...refusal.headers, link: helpLink(helpOf(base, refusal.body)) };
  return { ok: false, refusal: { ...refusal, headers } };
}

const helpOf = (base: string, { error, reason }: Refusal['body']): string =>
  reason !== undefined && Object.hasOwn(REASON_TEXTS, reason)
    ? helpUrlOf(base, 'reasons', reason)
    : helpUrlOf(base, 'errors', reason ?? error);

async function decide<Req>(
  options: AuthorityOptions<Req>,
  { request, grant, proof, method, target, fields, watch, forAction }: Presented<Req>,
): Promise<Authorization> {
  if (typeof grant !== 'string' || typeof proof !== 'string') {
    return refuse(401, 'UNAUTHORIZED', 'Svc-Grant and Svc-Proof are required', { 'www-authenticate': 'Svc' });
  }
  if (grant.length > GRANT_MAX_CHARS || proof.length > PROOF_MAX_CHARS) {
    return refuse(400, 'INVALID_REQUEST', 'Svc-Grant or Svc-Proof is too long');
  }
  // Nobody can have signed for any other: a Proof names its method in upper case.
  if (!isMethod(method)) return refuse(400, 'INVALID_REQUEST', 'the method must be in upper-case letters');
  if (!isNormalTarget(target)) {
    const what =
      'the path must be in normal form: no dot segments, no needless or lower-case escapes, no %2F or %5C';
    return refuse(400, 'INVALID_REQUEST', what);
  }
  if (options.allowTrailingSlash !== true && hasTrailingSlash(target)) {
    return refuse(400, 'INVALID_REQUEST', 'the path must not end in a slash');
  }
  const url = options.url === undefined ? joinTarget(options.origin, target) : options.url(request);
  if (url === null || normalizeHtu(url) === null) {
    return refuse(400, 'INVALID_REQUEST', 'the request has no well-formed absolute URL');
  }
  if (options.signature !== undefined) {
    const fault = await options.signature.check({ method, url, fields: fields(), proof });
    if (fault !== null) return refuseUnsigned(options.signature, fault);
  }
  let action: Action;
  const watched = watch();
  try {
    action = await options.action(forAction);
  } catch (error) {
    const fault = findBodyFault(error, watched);
    if (fault === null) throw error;
    if (fault === 'not-parsed') {
      const { message } = BODY_FAULTS[fault];
      tellError(options, 500, new SvcError('configuration', message, { cause: error }), request);
    }
    return refuseBody(fault);
  } finally {
    watched.end();
  }
  try {
    const verdict = await options.verifier.verify({ grant, proof, action, request: { method, url } });
    if (verdict.allowed) return { ok: true, svc: authorityOf(verdict.authority, verdict.receipt) };
    const { reason, receipt } = verdict;
    return forbid(REASON_TEXTS[reason], reason, receipt.receipt_id);
  } catch (error) {
    const mismatch = mismatchOf(error);
    if (mismatch !== null) return forbid(toldOf(mismatch), 'REQUEST_MISMATCH', mismatch.receiptId);
    tellError(options, 503, error, request);
    const retryAfterSeconds = error instanceof SvcError ? (error.retryAfterSeconds ?? 1) : 1;
    const headers = { 'retry-after': String(retryAfterSeconds) };
    return refuse(503, 'SERVICE_UNAVAILABLE', 'authority could not be verified', headers);
  }
}

/**
 * Both requests are shown to an Agent whose authority is genuine: what it signed, and this address, which is public. Before
 * anything is verified, whoever asks is told its own words and nothing of this server's.
 */
const toldOf = ({ message, receipt, signedFor }: Mismatch): string => {
  if (receipt !== null) return message;
  const named = signedFor === null ? 'another request' : `${signedFor.method} ${signedFor.url}`;
  return `the Proof names ${named}, which is not the request that came with it: sign one for exactly this method and URL`;
};

const authorityOf = (authority: Capability, receipt: Receipt): SvcAuthority => ({
  authority,
  receipt,
  receiptId: receipt.receipt_id,
  agent: receipt.agent,
  principal: receipt.principal?.id,
  grantId: receipt.grant_id,
});

/** Only a path: an absolute target, or one that would continue the host, is not taken for one. */
const joinTarget = (origin: string, target: string): string | null =>
  target.startsWith('/') ? `${origin}${target}` : null;

/**
 * Whether the path as received is its own normal form. Authority is checked for the normal form and a router goes by
 * the path as received: for `/danger/../safe` the two would be different places.
 */
const isNormalTarget = (target: string): boolean => {
  const path = pathOf(target);
  const url = `http://host${path}`;
  return path.startsWith('/') && normalizeHtu(url) === url && !/%(?:2F|5C)/i.test(path);
};

/** `/` alone is the only address of its place. A router may take what follows a `;` for parameters, and go by what is before it. */
const hasTrailingSlash = (target: string): boolean => {
  const path = pathOf(target);
  return path !== '/' && /\/(?:;[^/]*)?$/.test(path);
};

const pathOf = (target: string): string => target.split(/[?#]/, 1)[0] ?? '';

const forbid = (
  message: string,
  reason: ReasonCode | RefusalCode,
  receiptId: string | null,
): Authorization => {
  const refusal = refuse(403, 'FORBIDDEN', message).refusal;
  const receipt = receiptId === null ? {} : { receipt_id: receiptId };
  return { ok: false, refusal: { ...refusal, body: { ...refusal.body, reason, ...receipt } } };
};

/** As draft-ietf-webbotauth-httpsig-protocol has it: 403, and what to sign. */
const refuseUnsigned = ({ accepts }: SignatureCheck, fault: string): Authorization => {
  const message = `the request must be signed by the key of its Proof: ${fault}`;
  const { refusal } = refuse(403, 'FORBIDDEN', message, { 'accept-signature': accepts });
  return { ok: false, refusal: { ...refusal, body: { ...refusal.body, reason: 'SIGNATURE_REQUIRED' } } };
};

/** The fields of a request, as frameworks on Node have them. */
export const fieldsOf = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): SignedRequest['fields'] =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => ({ name: name.toLowerCase(), value: one })),
  );

/** The answer to a body that cannot be read. */
export const refuseBody = (fault: BodyFault): { ok: false; refusal: Refusal } => {
  const { status, message } = BODY_FAULTS[fault];
  return refuse(status, status === 500 ? 'CONFIGURATION' : CODES[status], message);
};

const CODES = { 400: 'INVALID_REQUEST', 413: 'PAYLOAD_TOO_LARGE', 415: 'UNSUPPORTED_MEDIA_TYPE' } as const;

const refuse = (status: Refusal['status'], error: RefusalCode, message: string, headers = {}) => ({
  ok: false as const,
  refusal: {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
    body: { error, message },
  },
});
