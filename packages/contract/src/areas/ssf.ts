/** The events of §15 as a Shared Signals transmitter (OpenID SSF 1.0, protocol §17). */
import { z } from 'zod';
import { streamId } from '../formats.ts';
import { jwks } from '../resources/public.ts';
import {
  pollAnswer,
  pollRequest,
  ssfConfiguration,
  stream,
  streamChange,
  streamOrList,
  streamRequest,
  streamStatus,
  streamVerification,
} from '../resources/ssf.ts';
import { defineRoute, empty, json, raw } from '../route.ts';

const ABSENT = 'The subject of this key has no such stream.';
const NOT_PROVEN = 'The key is an org:read key, or the DID is claimed and its domain is not proven.';
const common = { tag: 'Shared Signals', limiter: 'authenticated', feature: 'ssf' } as const;
const writing = ['rp', 'principal', 'org:admin'] as const;
const reading = ['rp', 'principal', 'org'] as const;
const one = z.strictObject({ stream_id: streamId });

export const ssfRoutes = {
  getSsfConfiguration: defineRoute({
    method: 'get',
    path: '/.well-known/ssf-configuration',
    tag: 'Shared Signals',
    summary: 'Metadata of the transmitter',
    description: 'The endpoints of the transmitter, and the keys that sign SETs.',
    auth: [],
    limiter: 'public',
    feature: 'ssf',
    responses: {
      200: json(ssfConfiguration, 'The metadata.', { 'Cache-Control': 'How long it may be cached.' }),
    },
    errors: {},
  }),

  getSsfJwks: defineRoute({
    method: 'get',
    path: '/ssf/jwks.json',
    tag: 'Shared Signals',
    summary: 'Keys of SETs as a JWK Set',
    description:
      'The `jwks_uri` of the transmitter: the status keys that have not ended, and no other key of the service.',
    auth: [],
    limiter: 'public',
    feature: 'ssf',
    responses: {
      200: raw(['application/jwk-set+json', 'application/json'], 'The JWK Set.', {
        schema: jwks,
        headers: { 'Cache-Control': 'How long it may be cached.' },
      }),
    },
    errors: {},
  }),

  createStream: defineRoute({
    ...common,
    method: 'post',
    path: '/ssf/streams',
    summary: 'Create a stream',
    description: [
      'From now on, the stream carries the events that the subject of the key receives by webhooks. `events_delivered`',
      'lists those of `events_requested` that the service offers. A subject may have five streams. The service sends',
      'SETs to `delivery.endpoint_url` (`urn:ietf:rfc:8935`), or you poll for them (`urn:ietf:rfc:8936`, also without',
      '`delivery`).',
    ].join('\n'),
    auth: writing,
    body: streamRequest,
    responses: { 201: json(stream, 'Created.') },
    errors: {
      INVALID_REQUEST: 'The body is not that of a stream, or the service would not call this `endpoint_url`.',
      FORBIDDEN: NOT_PROVEN,
      CONFLICT: 'The subject already has five streams.',
    },
  }),

  getStreams: defineRoute({
    ...common,
    method: 'get',
    path: '/ssf/streams',
    summary: 'Get one stream, or all',
    description: 'With `stream_id`, that stream; without it, a list of all streams of the key’s subject.',
    auth: reading,
    query: z.strictObject({ stream_id: streamId.optional() }),
    responses: { 200: json(streamOrList, 'The stream, or a list of all.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  updateStream: defineRoute({
    ...common,
    method: 'patch',
    path: '/ssf/streams',
    summary: 'Change a stream',
    description: [
      'Changes those of `events_requested`, `delivery` and `description` that you send. If you send a member that only',
      'the transmitter sets, it must be as you read it. A pushed stream keeps its `authorization_header` as long as its',
      '`endpoint_url` stays the same. Waiting events go to the new destination.',
    ].join('\n'),
    auth: writing,
    body: streamChange,
    responses: { 200: json(stream, 'The stream as it is now.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST:
        'A member that only the transmitter sets is changed, or the body is not that of a stream.',
    },
  }),

  replaceStream: defineRoute({
    ...common,
    method: 'put',
    path: '/ssf/streams',
    summary: 'Replace a stream',
    description:
      'Like PATCH, but removes what you do not send: without `delivery` the stream is polled; without `authorization_header` none is sent.',
    auth: writing,
    body: streamChange,
    responses: { 200: json(stream, 'The stream as it is now.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST:
        'A member that only the transmitter sets is changed, or the body is not that of a stream.',
    },
  }),

  deleteStream: defineRoute({
    ...common,
    method: 'delete',
    path: '/ssf/streams',
    summary: 'Delete a stream',
    description: 'Deletes the stream with its waiting events, for good.',
    auth: writing,
    query: one,
    responses: { 204: empty('Deleted.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  getStreamStatus: defineRoute({
    ...common,
    method: 'get',
    path: '/ssf/status',
    summary: 'Get the status of a stream',
    description: 'Whether the stream is enabled, paused or disabled, and the reason that was given.',
    auth: reading,
    query: one,
    responses: { 200: json(streamStatus, 'The status.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  setStreamStatus: defineRoute({
    ...common,
    method: 'post',
    path: '/ssf/status',
    summary: 'Enable, pause or disable a stream',
    description: [
      'A paused stream keeps events for 30 days, and delivers them after it is enabled. A disabled stream keeps',
      'nothing: waiting events are dropped, and events that happen until it is enabled or paused are never',
      'delivered, except that those of the last moments before may be.',
    ].join('\n'),
    auth: writing,
    body: streamStatus,
    responses: { 200: json(streamStatus, 'The status as it is now.') },
    errors: { NOT_FOUND: ABSENT },
  }),

  verifyStream: defineRoute({
    ...common,
    method: 'post',
    path: '/ssf/verify',
    summary: 'Ask for a verification event',
    description: 'Queues a verification event in the stream, with the `state` that you send.',
    auth: writing,
    body: streamVerification,
    responses: { 204: empty('The event is queued.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST: 'The stream is disabled, or the body is not that of a verification.',
      RATE_LIMITED:
        'The rate limit of the key, or less than `min_verification_interval` has passed since the last one.',
    },
  }),

  pollStream: defineRoute({
    ...common,
    method: 'post',
    path: '/ssf/streams/{stream_id}/poll',
    summary: 'Poll for SETs',
    description: [
      'Polls as in RFC 8936. The service first processes `ack` and `setErrs`. Then it returns up to 100 SETs, oldest',
      'first; it returns each SET again until you acknowledge it. A stream that is not enabled returns none, and a',
      'pushed stream cannot be polled.',
    ].join('\n'),
    auth: writing,
    params: one,
    body: pollRequest,
    responses: { 200: json(pollAnswer, 'The waiting SETs.') },
    errors: {
      NOT_FOUND: 'The subject of this key has no such polled stream.',
      FORBIDDEN: NOT_PROVEN,
      RATE_LIMITED: 'The rate limit of the key, or too many polls are waiting on this node.',
    },
  }),
} as const;
