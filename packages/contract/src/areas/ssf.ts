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

const ABSENT = 'No such stream of this key’s subject.';
const NOT_PROVEN = 'An org:read key, or the DID is claimed and its domain not proven.';
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
    description: 'Where the endpoints are, and under which keys SETs are signed.',
    auth: [],
    limiter: 'public',
    feature: 'ssf',
    responses: {
      200: json(ssfConfiguration, 'The metadata.', { 'Cache-Control': 'How long it may be kept.' }),
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
        headers: { 'Cache-Control': 'How long it may be kept.' },
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
      'A stream has what the subject of the key hears of by webhooks, from now on. `events_delivered` is what of `events_requested` there',
      'is. Five streams for each subject. Its SETs are sent to `delivery.endpoint_url` (`urn:ietf:rfc:8935`), or polled for',
      '(`urn:ietf:rfc:8936`, also without `delivery`).',
    ].join('\n'),
    auth: writing,
    body: streamRequest,
    responses: { 201: json(stream, 'Created.') },
    errors: {
      INVALID_REQUEST: 'Not the body of a stream, or an `endpoint_url` that would not be asked.',
      FORBIDDEN: NOT_PROVEN,
      CONFLICT: 'The subject has five streams.',
    },
  }),

  getStreams: defineRoute({
    ...common,
    method: 'get',
    path: '/ssf/streams',
    summary: 'Get one stream, or all',
    description: 'With `stream_id` that one, without it a list of all of the key’s subject.',
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
      'Changes what is named of `events_requested`, `delivery` and `description`. Of what only the service says, a member that is sent must',
      'be as it was read. A stream that is pushed keeps its `authorization_header` as long as its `endpoint_url` stays. What waits goes where',
      'the stream goes then.',
    ].join('\n'),
    auth: writing,
    body: streamChange,
    responses: { 200: json(stream, 'As it is now.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST: 'A member that only the service says is another, or the body is not of a stream.',
    },
  }),

  replaceStream: defineRoute({
    ...common,
    method: 'put',
    path: '/ssf/streams',
    summary: 'Replace what is wanted of a stream',
    description:
      'As PATCH, but what is not named is taken back: without `delivery` the stream is polled, without `authorization_header` none is sent.',
    auth: writing,
    body: streamChange,
    responses: { 200: json(stream, 'As it is now.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST: 'A member that only the service says is another, or the body is not of a stream.',
    },
  }),

  deleteStream: defineRoute({
    ...common,
    method: 'delete',
    path: '/ssf/streams',
    summary: 'Delete a stream',
    description: 'With what waits for it, for good.',
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
    description: 'Enabled, paused or disabled, and the reason that was given.',
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
      'A paused stream keeps what happens, for 30 days, and gives it once it is enabled. A disabled one keeps nothing: what waits is',
      'dropped, and what happens until it is enabled is never told.',
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
    description: 'Puts a verification event into the stream, with the `state` that is sent.',
    auth: writing,
    body: streamVerification,
    responses: { 204: empty('It is on its way.') },
    errors: {
      NOT_FOUND: ABSENT,
      FORBIDDEN: NOT_PROVEN,
      INVALID_REQUEST: 'The stream is disabled, or the body is not of a verification.',
      RATE_LIMITED: 'The limit of the key, or less than `min_verification_interval` since the last one.',
    },
  }),

  pollStream: defineRoute({
    ...common,
    method: 'post',
    path: '/ssf/streams/{stream_id}/poll',
    summary: 'Poll for SETs',
    description: [
      'RFC 8936. First what `ack` and `setErrs` name is done with, then up to 100 SETs are given, the oldest first; each is given until it',
      'is acknowledged. Of a stream that is not enabled none is, and a stream that is pushed is not polled.',
    ].join('\n'),
    auth: writing,
    params: one,
    body: pollRequest,
    responses: { 200: json(pollAnswer, 'SETs that wait.') },
    errors: {
      NOT_FOUND: 'No such stream of this key’s subject that is polled.',
      FORBIDDEN: NOT_PROVEN,
      RATE_LIMITED: 'The limit of the key, or too many polls wait on this node.',
    },
  }),
} as const;
