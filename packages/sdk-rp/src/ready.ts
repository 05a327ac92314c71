/** Checks that this verifier can verify: its key, its DIDs and the service, before the first request needs them. */
import { isJsonObject, type JsonValue } from '@svc/codec';
import type { ServiceKeys } from '@svc/receipts';
import { type CallOptions, getMeWithTime, isText, type Me, SvcError, type Transport } from '@svc/sdk-core';
import { type CallTimes, type ClockDifference, windowOf } from './answer-window.ts';
import { fetchDocument } from './service-document.ts';
import type { Trust } from './trust.ts';

/** @throws SvcError whose message says what to do; `configuration` if only another setting helps */
export async function checkReady(
  transport: Transport,
  baseUrl: string,
  trust: Trust,
  call: CallOptions,
): Promise<void> {
  return transport.whole(call, async (whole) => {
    const { nowMs, difference } = trust.clock;
    const beganMs = nowMs();
    const { me, serviceTimeMs } = await getMeWithTime(transport, whole.rest()).catch((error: unknown) => {
      throw explain(error, baseUrl);
    });
    const times = { beganMs, answeredMs: nowMs(), mayRepeat: false };
    const problem =
      problemOfKey(me, trust) ??
      problemOfDid('serviceDid', trust.serviceDid, me) ??
      problemOfClock(serviceTimeMs, times, difference);
    if (problem !== null) throw new SvcError('configuration', problem);
    const keys = await whole.wait(() => trust.documents.get());
    const other = problemOfDid('didDocument', keys.did, me);
    if (other !== null) throw new SvcError('configuration', other);
    if (!trust.documents.isPinned) return;
    const served = await fetchDocument(transport, whole.rest()).catch(nothingKnown);
    const older = problemOfPin(keys, served);
    if (older !== null) throw new SvcError('configuration', older);
  });
}

function problemOfKey({ role, subject }: Me, { relyingParty }: Trust): string | null {
  if (role !== 'rp')
    return `the API key is not a relying party's but one of role ${role}: pass the key of ${relyingParty ?? 'a relying party'}`;
  if (relyingParty === undefined || relyingParty === subject) return null;
  return `the API key is that of ${subject}, and relyingParty is ${relyingParty}: pass the DID and the key of the same one`;
}

const problemOfDid = (option: string, did: string | undefined, { service_did }: Me): string | null =>
  did === undefined || did === service_did
    ? null
    : `the service at baseUrl is ${service_did}, and ${option} is of ${did}: pass the address and the DID of the same one`;

/**
 * Compares with the clock that dates Receipts. The `Date` header has another clock: that of the node's machine or a
 * gateway.
 */
function problemOfClock(
  serviceTimeMs: number | null,
  times: CallTimes,
  difference: ClockDifference,
): string | null {
  if (serviceTimeMs === null) return null;
  const { notBeforeMs, notAfterMs } = windowOf(times, difference);
  const isBehind = serviceTimeMs > notAfterMs;
  if (!isBehind && serviceTimeMs >= notBeforeMs) return null;
  const offMs = isBehind ? serviceTimeMs - times.answeredMs : times.beganMs - serviceTimeMs;
  const [how, option, allowedMs] = isBehind
    ? (['behind', 'serviceClockAheadMs', difference.aheadMs] as const)
    : (['ahead of', 'serviceClockBehindMs', difference.behindMs] as const);
  return `the clock here is at least ${Math.floor(offMs) / 1000} s ${how} the service's, more than the ${allowedMs} ms of ${option}: every answer of verify would be refused, its Proof spent; synchronise the clock`;
}

/** If a gateway does not serve the service's document, that alone is not a failure. */
function nothingKnown(error: unknown): null {
  if (error instanceof SvcError && (error.kind === 'refused' || error.kind === 'bad-response')) return null;
  throw error;
}

function problemOfPin(pinned: ServiceKeys, served: JsonValue): string | null {
  const signing = signingKeyOf(served, pinned.did);
  if (signing === null) return null;
  const { kid, multikey } = signing;
  return pinned.list().some((key) => key.kid === kid && key.multikey === multikey)
    ? null
    : `the pinned didDocument does not have the key ${kid} under which the service signs Receipts now: every answer of verify would be refused, its Proof spent; obtain the document again over a channel that you trust`;
}

/** The first receipt key that has not ended (protocol §8), or null. */
function signingKeyOf(document: JsonValue, did: string): { kid: string; multikey: string } | null {
  const methods = isJsonObject(document) ? document.verificationMethod : null;
  for (const method of Array.isArray(methods) ? methods : []) {
    if (!isJsonObject(method)) continue;
    const { id: kid, publicKeyMultibase: multikey, revoked, 'svc:validUntil': validUntil } = method;
    const isInForce = revoked === undefined && validUntil === undefined;
    if (isInForce && isText(kid) && kid.startsWith(`${did}#receipt-`) && isText(multikey))
      return { kid, multikey };
  }
  return null;
}

/** An error whose message says what to do, for each error that this call can end with. */
function explain(error: unknown, baseUrl: string): unknown {
  if (!(error instanceof SvcError)) return error;
  const { host } = new URL(baseUrl);
  const { kind, status, code, requestId, retryAfterSeconds, helpUrl } = error;
  const detail = { status, code, requestId, retryAfterSeconds, helpUrl, cause: error };
  if (status === 401)
    return new SvcError(
      'configuration',
      `the service at ${host} does not know the API key: was it revoked, or is it another service's?`,
      detail,
    );
  if (status === 404 || status === 405)
    return new SvcError(
      'configuration',
      `what answers at ${baseUrl} is not the API of a service: check address, port and path of baseUrl (${error.message})`,
      detail,
    );
  if (kind === 'network' || kind === 'timeout')
    return new SvcError(
      kind,
      `the service at ${host} cannot be reached: check baseUrl and the network (${error.message})`,
      detail,
    );
  return error;
}
