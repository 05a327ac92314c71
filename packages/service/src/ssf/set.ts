/** Events as Security Event Tokens (RFC 8417) in the profile of OpenID SSF 1.0 (protocol §17). */
import { type JsonObject, type Signer, signCompactJws } from '@svc/protocol';
import { EVENT_TYPES, type EventType } from '../ports/event-subscriptions.ts';
import { STREAM_UPDATED, type StreamRecord, VERIFICATION, type WaitingEvent } from '../ports/streams.ts';

export const SET_TYP = 'secevent+jwt';

const SECEVENT = 'https://schemas.openid.net/secevent';
const REVOKED = `${SECEVENT}/caep/event-type/credential-change`;
const COMPROMISED = `${SECEVENT}/risc/event-type/credential-compromise`;
/** What a stream is told of itself, by the type in the log. */
const OF_STREAM: Readonly<Partial<Record<WaitingEvent['type'], string>>> = {
  [VERIFICATION]: `${SECEVENT}/ssf/event-type/verification`,
  [STREAM_UPDATED]: `${SECEVENT}/ssf/event-type/stream-updated`,
};

/** Where CAEP or RISC has a type that says the same. All else has a URI of the service's own. */
const STANDARD: Readonly<Partial<Record<EventType, string>>> = {
  'grant.revoked': REVOKED,
  'key.compromised': COMPROMISED,
};

export const eventUriOf = (type: EventType, issuer: string): string =>
  STANDARD[type] ?? `${issuer}/event-types/${type}`;

/** What a stream can have, in the order of the types. */
export const eventUris = (issuer: string): readonly string[] =>
  EVENT_TYPES.map((type) => eventUriOf(type, issuer));

/** Types of the URIs that a receiver names; URIs that are unknown are left out. */
export const typesOf = (uris: readonly string[], issuer: string): readonly EventType[] =>
  EVENT_TYPES.filter((type) => uris.includes(eventUriOf(type, issuer)));

/** `aud` of a stream: the DID, or the id of the org, whose key made it. */
export const audienceClaimOf = ({ audience }: Pick<StreamRecord, 'audience'>): string =>
  audience.slice(audience.indexOf(' ') + 1);

/** One for each event and stream: SETs of several streams differ in what they say. */
const jtiOf = (eventId: string, streamId: string): string => `${eventId}.${streamId}`;

/** The event that a `jti` of this stream names; null: it is none of its. */
export const eventOfJti = (jti: string, streamId: string): string | null =>
  jti.endsWith(`.${streamId}`) ? jti.slice(0, -streamId.length - 1) : null;

/** The claims of a SET: always the same for one event and stream. */
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
  // Written by the database: an object.
  const data = JSON.parse(event.data) as JsonObject;
  const ofStream = OF_STREAM[event.type];
  if (ofStream !== undefined)
    return { sub_id: { format: 'opaque', id: streamId }, events: { [ofStream]: data } };
  const type = event.type as EventType;
  const said = { ...(SAYING[type] ?? {}), event_timestamp: secondsOf(event), ...data };
  return { sub_id: subjectOf(data, did), events: { [eventUriOf(type, baseUrl)]: said } };
};

/** What the standard types ask for beside their time. */
const SAYING: Readonly<Partial<Record<EventType, JsonObject>>> = {
  'grant.revoked': { change_type: 'revoke', credential_type: 'verifiable-credential' },
  'key.compromised': { credential_type: 'signing-key' },
};

/** Whom an event is about: the Agent, else the Principal, what is paused, the relying party, the service. */
const subjectOf = ({ agent, principal, subject, relying_party }: JsonObject, service: string): JsonObject => {
  const named = [agent, principal, subject, relying_party].find((one) => typeof one === 'string') ?? service;
  return String(named).startsWith('did:') ? { format: 'did', url: named } : { format: 'opaque', id: named };
};

const secondsOf = ({ occurredAtMs }: WaitingEvent): number => Math.floor(occurredAtMs / 1000);
