/**
 * Verifies webhooks as they arrive (Standard Webhooks 1.0.0). A webhook is authentic if these exact bytes were recently
 * signed with a secret of the subscription, or by the service under its DID document. Runs on every runtime with Web
 * Crypto.
 */
import {
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  isJsonObject,
  parseStrictJson,
  portableCrypto,
} from '@svc/codec';
import { readServiceKeys, type ServiceKeys } from '@svc/transparency/service-keys';
import {
  aFunction,
  anInteger,
  aText,
  isText,
  optionally,
  type Rules,
  readArgument,
  rule,
} from './arguments.ts';
import { SvcError } from './errors.ts';
import type { WebhookEvent } from './webhook-event.ts';

/** A request as Node and frameworks represent it. */
export interface ReceivedWebhook {
  /** Names in upper or lower case. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as received: its text or bytes, not the result of a JSON parser. */
  readonly body: string | Uint8Array;
}

/** `secret`, or `didDocument` with `subscriptionId`. With both, either signature is accepted. */
export interface WebhookOptions {
  /** `whsec_…` of the subscription; both secrets during a rotation. */
  secret?: string | readonly string[];
  /**
   * The service's DID document from a source that you trust, as an object or text. With it, `v1a` signatures are
   * accepted.
   */
  didDocument?: unknown;
  /**
   * `whs_…`. Required with `didDocument`: the service's key signs for all endpoints, so the id tells which events are
   * yours.
   */
  subscriptionId?: string;
  /** Greatest difference between `webhook-timestamp` and now, in seconds; default 300. */
  toleranceSeconds?: number;
  /** This machine's clock, in milliseconds since the epoch; default `Date.now`. */
  now?: () => number;
}

const MAX_BODY_BYTES = 65_536;
const TOLERANCE_SECONDS = 300;
/** Number of signatures of a header that are read; the service sends at most three. */
const MAX_SIGNATURES = 16;
const SECRETS = 2;
const SECRET = /^whsec_([A-Za-z0-9+/]{32,88}={0,2})$/;
const NO_BODY =
  'no body was read: there is none, or it is of a type that the route does not parse, as express.raw({ type: "application/json" }) does';
const RAW_BODY =
  'hand over the body as it came, as with express.raw({ type: "application/json" }) or request.text(): what a JSON parser made of it cannot be checked';

const isSecrets = (value: unknown): value is string | readonly string[] =>
  isText(value) ||
  (Array.isArray(value) && value.length > 0 && value.length <= SECRETS && value.every(isText));

const rules: Rules<WebhookOptions> = {
  secret: optionally(rule(`whsec_… or an array of one or ${SECRETS}`, isSecrets)),
  didDocument: optionally(rule('a DID document', (value): value is unknown => value !== null)),
  subscriptionId: optionally(aText('whs_…')),
  toleranceSeconds: optionally(anInteger(1, 86_400, 'seconds')),
  now: optionally(aFunction<() => number>()),
};

/**
 * Verifies the request and returns the event in it. An event may arrive more than once: handle each `id` once, and
 * answer 204 within 15 seconds.
 *
 * @example
 * declare const forget: (grantId: string) => Promise<void>;
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const event = await verifyWebhook(request, { secret: process.env.SVC_WEBHOOK_SECRET ?? '' });
 *   if (event.type === 'grant.revoked') await forget(event.data.grant_id);
 *   return new Response(null, { status: 204 });
 * }
 * @throws SvcError `webhook-invalid` where the request is not authentic or has no body: answer 400. `configuration` for
 * an invalid secret or document, and for a body that was already parsed or read.
 */
export async function verifyWebhook(
  request: Request | ReceivedWebhook,
  options: WebhookOptions,
): Promise<WebhookEvent> {
  const trust = readTrust(options);
  const id = headerOf(request, 'webhook-id');
  // Full stops separate the parts of the signed text, so an id must not contain one.
  if (id.includes('.')) throw invalid('webhook-id has a full stop');
  const time = headerOf(request, 'webhook-timestamp');
  const signatures = headerOf(request, 'webhook-signature').split(' ').slice(0, MAX_SIGNATURES);
  checkTime(time, trust);
  const body = await textOf(request);
  const signed = `${id}.${time}.${body}`;
  if (await isOfSecret(signed, signatures, trust.secrets)) return readEvent(id, body, trust);
  if (isOfService(signed, signatures, Number(time) * 1000, trust.keys)) return readEvent(id, body, trust);
  throw invalid('no signature is by what is trusted');
}

interface Trust {
  readonly secrets: readonly Uint8Array<ArrayBuffer>[];
  readonly keys: ServiceKeys | null;
  readonly subscriptionId: string | null;
  readonly toleranceSeconds: number;
  readonly nowMs: number;
}

const readTrust = (options: WebhookOptions): Trust => {
  const at = 'verifyWebhook';
  const given = readArgument<WebhookOptions>(at, options, rules, 'configuration');
  const { secret = [], didDocument, subscriptionId = null } = given;
  const secrets = [secret].flat().map(secretBytes);
  const read = didDocument === undefined ? null : readServiceKeys(didDocument);
  if (read?.ok === false) throw misused(`didDocument: ${read.failures[0]?.message ?? 'cannot be read'}`);
  if (read !== null && subscriptionId === null) throw misused('didDocument needs subscriptionId beside it');
  if (secrets.length === 0 && read === null) throw misused('secret or didDocument must be given');
  return {
    secrets,
    keys: read?.keys ?? null,
    subscriptionId,
    toleranceSeconds: given.toleranceSeconds ?? TOLERANCE_SECONDS,
    nowMs: (given.now ?? Date.now)(),
  };
};

const invalid = (problem: string): SvcError => new SvcError('webhook-invalid', `webhook: ${problem}`);
const misused = (problem: string): SvcError => new SvcError('configuration', `verifyWebhook: ${problem}`);

const secretBytes = (secret: string): Uint8Array<ArrayBuffer> => {
  const [, base64] = SECRET.exec(secret) ?? [];
  const bytes = base64 === undefined ? null : bytesOf(base64);
  if (bytes === null) throw misused('secret must be whsec_ and base64 of 24 to 64 bytes');
  return bytes;
};

/** Null if it is not base64. */
const bytesOf = (base64: string): Uint8Array<ArrayBuffer> | null => {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
};

const headerOf = ({ headers }: Request | ReceivedWebhook, name: string): string => {
  const values =
    'get' in headers && typeof headers.get === 'function'
      ? [headers.get(name)]
      : Object.entries(headers).flatMap(([key, value]) => (key.toLowerCase() === name ? value : []));
  const [value] = values;
  if (values.length !== 1 || typeof value !== 'string' || value === '')
    throw invalid(`the header ${name} is missing, or stands more than once`);
  return value;
};

const checkTime = (time: string, { toleranceSeconds, nowMs }: Trust): void => {
  if (!/^[0-9]{1,12}$/.test(time)) throw invalid('webhook-timestamp is no time in seconds');
  const awaySeconds = Math.abs(Number(time) - nowMs / 1000);
  if (awaySeconds > toleranceSeconds)
    throw invalid(`webhook-timestamp is ${Math.round(awaySeconds)} s away from this machine's clock`);
};

/** The received bytes as text. Signatures cover bytes, so the conversion must lose nothing. */
const textOf = async (request: Request | ReceivedWebhook): Promise<string> => {
  const { body } = request;
  if (typeof body === 'string') {
    if (body.length > MAX_BODY_BYTES) throw tooLong();
    return body;
  }
  const bytes = body instanceof Uint8Array ? body : await bytesOfRequest(request as Request);
  if (bytes.length > MAX_BODY_BYTES) throw tooLong();
  const text = decodeUtf8(bytes);
  if (text === null) throw invalid('the body is not UTF-8');
  return text;
};

const tooLong = (): SvcError => invalid(`the body has more than ${MAX_BODY_BYTES} bytes`);

/**
 * What frameworks provide for a request without a body, or with a body that no parser of the route accepts. Anyone can
 * send these.
 */
const isNoBody = (body: unknown): boolean =>
  body === undefined || body === null || (isJsonObject(body) && Object.keys(body).length === 0);

const bytesOfRequest = async (request: Request): Promise<Uint8Array> => {
  const { body } = request;
  if (typeof body?.getReader !== 'function') throw isNoBody(body) ? invalid(NO_BODY) : misused(RAW_BODY);
  if (request.bodyUsed) throw misused(RAW_BODY);
  const reader = body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
    if (length <= MAX_BODY_BYTES) continue;
    await reader.cancel();
    throw tooLong();
  }
  return concatBytes(parts);
};

/** The signatures of one version; signatures of other versions are ignored. */
const signaturesOf = (version: string, signatures: readonly string[]): readonly Uint8Array<ArrayBuffer>[] =>
  signatures.flatMap((signature) =>
    signature.startsWith(`${version},`) ? (bytesOf(signature.slice(version.length + 1)) ?? []) : [],
  );

const isOfSecret = async (
  signed: string,
  signatures: readonly string[],
  secrets: readonly Uint8Array<ArrayBuffer>[],
): Promise<boolean> => {
  const data = new Uint8Array(encodeUtf8(signed));
  const candidates = signaturesOf('v1', signatures);
  for (const secret of secrets) {
    const algorithm = { name: 'HMAC', hash: 'SHA-256' };
    const key = await crypto.subtle.importKey('raw', secret, algorithm, false, ['verify']);
    for (const candidate of candidates)
      if (await crypto.subtle.verify('HMAC', key, candidate, data)) return true;
  }
  return false;
};

/**
 * Whether a status key in force at that time made the signature. `v1a` does not name the key, so each of the few keys
 * is tried.
 */
const isOfService = (
  signingInput: string,
  signatures: readonly string[],
  signedAtMs: number,
  keys: ServiceKeys | null,
): boolean => {
  const [signature, ...others] = signaturesOf('v1a', signatures);
  if (keys === null || signature === undefined || others.length > 0) return false;
  return keys
    .list()
    .some(
      ({ kid }) =>
        keys.check('status', { kid, signingInput, signature, signedAtMs }, portableCrypto) === null,
    );
};

const readEvent = (id: string, body: string, { subscriptionId }: Trust): WebhookEvent => {
  const parsed = parseStrictJson(body);
  if (!parsed.ok || !isJsonObject(parsed.value)) throw invalid('the body is no JSON object');
  const { type, timestamp, subscription_id, data } = parsed.value;
  if (!isText(type) || !isText(timestamp) || !isText(subscription_id) || !isJsonObject(data))
    throw invalid('the body is no event');
  if (subscriptionId !== null && subscription_id !== subscriptionId)
    throw invalid('it was sent to another subscription');
  // The service signed it, so the members of `data` are those of its type.
  return { id, type, timestamp, subscription_id, data } as unknown as WebhookEvent;
};
