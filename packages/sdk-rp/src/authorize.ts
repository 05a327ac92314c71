/**
 * What the middlewares share: from a request's headers to its authority, or to the answer that refuses it. On any
 * failure the handler does not run.
 */
import { normalizeHtu } from '@svc/codec';
import { type Action, GRANT_MAX_CHARS, isMethod, PROOF_MAX_CHARS, REASON_TEXTS } from '@svc/protocol';
import {
  aFlag,
  aFunction,
  anObjectWith,
  helpBase,
  helpLink,
  helpUrlOf,
  isOrigin,
  optionally,
  type Rules,
  readArgument,
  rule,
  SvcError,
} from '@svc/sdk-core';
import { authorityOf, type SvcAuthority } from './authority.ts';
import { BODY_FAULTS, findBodyFault, type WatchedBody } from './body-fault.ts';
import { isMisdescribed, logError } from './failed-call.ts';
import { forbid, type Refusal, type Refused, refuse, refuseBody, refuseUnsigned } from './refusal.ts';
import { type Mismatch, mismatchOf } from './request-mismatch.ts';
import { hasEmptySegment, hasTrailingSlash, isNormalTarget, joinTarget } from './request-target.ts';
import type { SignatureCheck, SignedRequest } from './signature-check.ts';
import type { Verifier } from './verifier.ts';
import type { VerifyInput } from './verify-input.ts';

export type { SvcAuthority } from './authority.ts';

/** The members of a verifier that are used. */
export type AskedVerifier = Pick<Verifier, 'verify'> & Partial<Pick<Verifier, 'publicUrl'>>;

interface CommonOptions<Req> {
  /** If it has a `publicUrl`, refusals link to the guide. */
  verifier: AskedVerifier;
  /** What the request would do, in this relying party's own terms. An error that it throws goes to the framework. */
  action: (request: Req) => Action | Promise<Action>;
  /**
   * Demands that the request be signed with the key of its Proof: `sameKey()` of `@svc/sdk-rp/web-bot-auth`. No
   * signature is demanded unless given.
   */
  signature?: SignatureCheck;
  /**
   * Whether paths may end in a slash; unless true, such requests are answered 400. Many routers serve `/items/` by the
   * route of `/items`, and a Grant for `/items/*` includes `/items/`. So set it only if your router distinguishes the
   * two.
   */
  allowTrailingSlash?: boolean;
  /**
   * Receives the cause of an answer 503, which the answer itself does not contain, or 500. Unless given, one line is
   * written with `console.error`.
   */
  onError?: (error: unknown, request: Req) => void;
}

/**
 * The URL that an Agent signs for is the public one. Give `origin` if it is always the same. Give `url` behind proxies
 * that change the path, or with several origins. The caller chooses the `Host` header: never build the URL from it
 * without comparing it with a list of your own hosts.
 */
export type AuthorityOptions<Req> = CommonOptions<Req> &
  (
    | { /** Scheme, host and port of this relying party as Agents address it. */ origin: string; url?: never }
    | {
        /** The absolute URL of the request as the Agent addressed it. */ url: (request: Req) => string;
        origin?: never;
      }
  );

/**
 * The authority that a middleware stored on the request.
 * @throws SvcError `configuration` if no middleware ran: a handler mounted without one must not continue
 */
export function getAuthority(request: object): SvcAuthority {
  const { svc } = request as { svc?: SvcAuthority };
  if (svc === undefined) throw new SvcError('configuration', 'requireAuthority has not run for this request');
  return svc;
}

/** Whether a request may continue: the authority for its handler, or the answer that refuses it. */
export type Authorization = { ok: true; svc: SvcAuthority } | Refused;

export interface Presented<Req> {
  request: Req;
  grant: unknown;
  proof: unknown;
  method: string;
  /** The path and query as received, for `origin`. */
  target: string;
  /** The headers as received, read only when needed. */
  fields: () => SignedRequest['fields'];
  /** Called before `action`: observes what `action` reads of the body. */
  watch: () => WatchedBody;
  /** The request for `action`: a copy where reading the original would consume it. */
  forAction: Req;
}

/** All members of `AuthorityOptions`, in any of its forms. */
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
 * A checked copy of the options. `at` names the function that the caller called.
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
  if (onError === undefined) logError(`authority could not be verified, answered ${answer}`, error);
  else onError(error, request);
}

/**
 * Rejects only with errors of `action`, `url` or `onError`. A refusal links to its page in the guide if the service's
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
  presented: Presented<Req>,
): Promise<Authorization> {
  const { request, grant, proof, method, fields } = presented;
  if (typeof grant !== 'string' || typeof proof !== 'string') {
    return refuse(401, 'UNAUTHORIZED', 'Svc-Grant and Svc-Proof are required', { 'www-authenticate': 'Svc' });
  }
  const fault = findRequestFault(options, presented, grant, proof);
  if (fault !== null) return refuse(400, 'INVALID_REQUEST', fault);
  const url = urlOf(options, presented);
  if (url === null) return refuse(400, 'INVALID_REQUEST', 'the request has no well-formed absolute URL');
  if (options.signature !== undefined) {
    const signatureFault = await options.signature.check({ method, url, fields: fields(), proof });
    if (signatureFault !== null) return refuseUnsigned(options.signature, signatureFault);
  }
  const asked = await readAction(options, presented);
  if (!asked.ok) return asked;
  return askVerifier(options, request, { grant, proof, action: asked.action, request: { method, url } });
}

/** What the caller must change before the URL of the request can be determined, or null. */
function findRequestFault<Req>(
  { allowTrailingSlash }: AuthorityOptions<Req>,
  { method, target }: Presented<Req>,
  grant: string,
  proof: string,
): string | null {
  if (grant.length > GRANT_MAX_CHARS || proof.length > PROOF_MAX_CHARS)
    return 'Svc-Grant or Svc-Proof is too long';
  // A Proof names its method in upper case, so no Proof can match any other spelling.
  if (!isMethod(method)) return 'the method must be in upper-case letters';
  if (!isNormalTarget(target))
    return 'the path must be in normal form: no dot segments, no needless or lower-case escapes, no %2F or %5C';
  if (hasEmptySegment(target)) return 'the path must not have an empty segment: no two slashes in a row';
  if (allowTrailingSlash !== true && hasTrailingSlash(target)) return 'the path must not end in a slash';
  return null;
}

/** Null if it is not well-formed or not absolute. */
function urlOf<Req>(options: AuthorityOptions<Req>, { request, target }: Presented<Req>): string | null {
  const url = options.url === undefined ? joinTarget(options.origin, target) : options.url(request);
  return url === null || normalizeHtu(url) === null ? null : url;
}

/** Rejects with the error of `action`, unless the body is at fault. */
async function readAction<Req>(
  options: AuthorityOptions<Req>,
  { request, watch, forAction }: Presented<Req>,
): Promise<{ ok: true; action: Action } | Refused> {
  const watched = watch();
  try {
    return { ok: true, action: await options.action(forAction) };
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
}

async function askVerifier<Req>(
  options: AuthorityOptions<Req>,
  request: Req,
  asked: VerifyInput,
): Promise<Authorization> {
  try {
    const verdict = await options.verifier.verify(asked);
    if (verdict.allowed) return { ok: true, svc: authorityOf(verdict.authority, verdict.receipt) };
    const { reason, receipt } = verdict;
    return forbid(REASON_TEXTS[reason], reason, receipt.receipt_id);
  } catch (error) {
    const mismatch = mismatchOf(error);
    if (mismatch !== null) return forbid(toldOf(mismatch), 'REQUEST_MISMATCH', mismatch.receiptId);
    if (isMisdescribed(error)) {
      tellError(options, 500, error, request);
      return refuse(500, 'CONFIGURATION', 'this server has not described what the request would do');
    }
    tellError(options, 503, error, request);
    const retryAfterSeconds = error instanceof SvcError ? (error.retryAfterSeconds ?? 1) : 1;
    const headers = { 'retry-after': String(retryAfterSeconds) };
    return refuse(503, 'SERVICE_UNAVAILABLE', 'authority could not be verified', headers);
  }
}

/**
 * An Agent with genuine authority may see both requests: the one it signed, and this public address. Before anything is
 * verified, the caller sees only its own words and nothing from this server.
 */
const toldOf = ({ message, receipt, signedFor }: Mismatch): string => {
  if (receipt !== null) return message;
  const named = signedFor === null ? 'another request' : `${signedFor.method} ${signedFor.url}`;
  return `the Proof names ${named}, which is not the request that came with it: sign one for exactly this method and URL`;
};

/** The fields of a signed request, from the headers of a Node framework. */
export const fieldsOf = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): SignedRequest['fields'] =>
  Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one) => ({ name: name.toLowerCase(), value: one })),
  );
