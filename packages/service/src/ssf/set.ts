/** Events as Security Event Tokens (RFC 8417) in the profile of OpenID SSF 1.0 (protocol §17). */
import { type JsonObject, type Signer, signCompactJws } from '@svc/protocol';
import { EVENT_TYPES, type EventType } from '../ports/event-subscriptions.ts';
import { STREAM_UPDATED, type StreamRecord, VERIFICATION, type WaitingEvent } from '../ports/streams.ts';

export const SET_TYP = 'secevent+jwt';

const SECEVENT = 'https://schemas.openid.net/secevent';
const REVOKED = `${SECEVENT}/caep/event-type/credential-change`;
const COMPROMISED = `${SECEVENT}/risc/event-type/credential-compromise`;
/** Event types about the stream itself, by their type in the log. */
const OF_STREAM: Readonly<Partial<Record<WaitingEvent['type'], string>>> = {
  [VERIFICATION]: `${SECEVENT}/ssf/event-type/verification`,
  [STREAM_UPDATED]: `${SECEVENT}/ssf/event-type/stream-updated`,
};

/** Event types that CAEP or RISC defines with the same meaning. Every other type has a URI of this service. */
const STANDARD: Readonly<Partial<Record<EventType, string>>> = {
  'grant.revoked': REVOKED,
  'key.compromised': COMPROMISED,
};

export const eventUriOf = (type: EventType, issuer: string): string =>
  STANDARD[type] ?? `${issuer}/event-types/${type}`;

/** The event URIs that a stream can request, in the order of the types. */
export const eventUris = (issuer: string): readonly string[] =>
  EVENT_TYPES.map((type) => eventUriOf(type, issuer));

/** The types of the URIs that a receiver names. Unknown URIs are left out. */
export const typesOf = (uris: readonly string[], issuer: string): readonly EventType[] =>
  EVENT_TYPES.filter((type) => uris.includes(eventUriOf(type, issuer)));

/** `aud` of a stream: the DID, or the id of the org, of the key that created it. */
export const audienceClaimOf = ({ audience }: Pick<StreamRecord, 'audience'>): string =>
  audience.slice(audience.indexOf(' ') + 1);

/** The `jti` for one event and stream. It names the stream because SETs of several streams differ in content. */
const jtiOf = (eventId: string, streamId: string): string => `${eventId}.${streamId}`;

/** The event that a `jti` of this stream names; null when the `jti` is not of this stream. */
export const eventOfJti = (jti: string, streamId: string): string | null =>
  jti.endsWith(`.${streamId}`) ? jti.slice(0, -streamId.length - 1) : null;

/** The claims of a SET; always the same for one event and stream. */
export const setClaims = (
  event: WaitingEvent,
  stream: Pick<StreamRecord, 'streamId' | 'audience'>,
  issuer: { readonly baseUrl: string; readonly did: string },
): JsonObject & { readonly jti: string } => ({
  iss: issuer.baseUrl,
  aud: audienceClaimOf(stream),
  iat: secondsOf(event),
  jti: jtiOf(event.eventId, stream.streamId),
  txn: event.eventId,
  ...contentOf(event, stream.streamId, issuer),
});

export const signSet = (signer: Signer, claims: JsonObject): Promise<string> =>
  signCompactJws(signer, { typ: SET_TYP }, claims);

const contentOf = (
  event: WaitingEvent,
  streamId: string,
  { baseUrl, did }: { readonly baseUrl: string; readonly did: string },
): JsonObject => {
  // The database wrote it, as an object.
  const data = JSON.parse(event.data) as JsonObject;
  const ofStream = OF_STREAM[event.type];
  if (ofStream !== undefined)
    return { sub_id: { format: 'opaque', id: streamId }, events: { [ofStream]: data } };
  const type = event.type as EventType;
  const said = { ...(SAYING[type] ?? {}), event_timestamp: secondsOf(event), ...data };
  return { sub_id: subjectOf(data, did), events: { [eventUriOf(type, baseUrl)]: said } };
};

/** Members that the standard types require besides the time. */
const SAYING: Readonly<Partial<Record<EventType, JsonObject>>> = {
  'grant.revoked': { change_type: 'revoke', credential_type: 'verifiable-credential' },
  'key.compromised': { credential_type: 'signing-key' },
};

/**
 * The subject of an event: the Agent, else the Principal, else what is paused, else the relying party, else the
 * service.
 */
const subjectOf = ({ agent, principal, subject, relying_party }: JsonObject, service: string): JsonObject => {
  const named = [agent, principal, subject, relying_party].find((one) => typeof one === 'string') ?? service;
  return String(named).startsWith('did:') ? { format: 'did', url: named } : { format: 'opaque', id: named };
};

const secondsOf = ({ occurredAtMs }: WaitingEvent): number => Math.floor(occurredAtMs / 1000);
