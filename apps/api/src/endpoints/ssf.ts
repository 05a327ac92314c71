/** The transmitter of Shared Signals (protocol §17). */
import { type Body, POLL_METHOD, PUSH_METHOD, type Routes, routes } from '@svc/contract';
import {
  audienceClaimOf,
  buildEventJwks,
  changeStream,
  createStream,
  deleteStream,
  eventUriOf,
  eventUris,
  findStream,
  listStreams,
  type Polling,
  pollStream,
  pollUrlOf,
  reasonOf,
  type ServiceDeps,
  type StreamRecord,
  setStreamStatus,
  VERIFIED_EVERY_SECONDS,
  verifyStream,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

const CACHE_AN_HOUR = { 'Cache-Control': 'public, max-age=3600' };
/** Short, so that a key that has ended leaves the set soon. */
const CACHE_A_MINUTE = { 'Cache-Control': 'public, max-age=60' };

/** `polling`: state that is kept between calls. */
export const ssfEndpoints = (deps: ServiceDeps, polling: Polling): HandlersOf<'ssf'> => {
  const { baseUrl } = deps.identity;
  const present = presentTo(deps);
  return {
    getSsfConfiguration: async () => ({
      status: 200,
      headers: CACHE_AN_HOUR,
      body: {
        spec_version: '1_0',
        issuer: baseUrl,
        jwks_uri: baseUrl + routes.getSsfJwks.path,
        delivery_methods_supported: [PUSH_METHOD, POLL_METHOD],
        configuration_endpoint: baseUrl + routes.createStream.path,
        status_endpoint: baseUrl + routes.getStreamStatus.path,
        verification_endpoint: baseUrl + routes.verifyStream.path,
        authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6750' }],
        default_subjects: 'ALL',
      },
    }),

    getSsfJwks: async () => ({
      status: 200,
      rawBody: buildEventJwks(deps.identity),
      contentType: 'application/jwk-set+json',
      headers: CACHE_A_MINUTE,
    }),

    createStream: async ({ caller, body, requestId }) => ({
      status: 201,
      body: present(await createStream(deps, caller, body, requestId)),
    }),

    getStreams: async ({ caller, query: { stream_id: id } }) => ({
      status: 200,
      body:
        id === undefined
          ? (await listStreams(deps, caller)).map(present)
          : present(await findStream(deps, caller, id)),
    }),

    updateStream: async ({ caller, body, requestId }) => ({
      status: 200,
      body: present(await changeStream(deps, caller, body, false, requestId)),
    }),

    replaceStream: async ({ caller, body, requestId }) => ({
      status: 200,
      body: present(await changeStream(deps, caller, body, true, requestId)),
    }),

    deleteStream: async ({ caller, query, requestId }) => {
      await deleteStream(deps, caller, query.stream_id, requestId);
      return { status: 204, isEmpty: true };
    },

    getStreamStatus: async ({ caller, query }) => ({
      status: 200,
      body: presentStatus(await findStream(deps, caller, query.stream_id)),
    }),

    setStreamStatus: async ({ caller, body, requestId }) => {
      const { stream_id: id, status, reason = null } = body;
      return {
        status: 200,
        body: presentStatus(await setStreamStatus(deps, caller, { id, status, reason }, requestId)),
      };
    },

    verifyStream: async ({ caller, body }) => {
      await verifyStream(deps, caller, body.stream_id, body.state ?? null);
      return { status: 204, isEmpty: true };
    },

    pollStream: async ({ caller, params, body, clientGone }) => ({
      status: 200,
      body: await pollStream(
        deps,
        polling,
        caller,
        params.stream_id,
        { maxEvents: undefined, ...body },
        clientGone(),
      ),
    }),
  };
};

type Stream = Body<Routes['createStream'], 201>;

const presentTo =
  (deps: ServiceDeps) =>
  (record: StreamRecord): Stream => {
    const { streamId, requested, types, description, delivery } = record;
    const { baseUrl } = deps.identity;
    return {
      stream_id: streamId as Stream['stream_id'],
      iss: baseUrl,
      aud: audienceClaimOf(record),
      events_supported: [...eventUris(baseUrl)],
      events_requested: [...requested],
      events_delivered: types.map((type) => eventUriOf(type, baseUrl)),
      delivery:
        delivery.method === 'poll'
          ? { method: POLL_METHOD, endpoint_url: pollUrlOf(deps, streamId) }
          : { method: PUSH_METHOD, endpoint_url: delivery.url },
      min_verification_interval: VERIFIED_EVERY_SECONDS,
      ...(description !== null && { description }),
    };
  };

const presentStatus = (stream: StreamRecord): Body<Routes['getStreamStatus'], 200> => {
  const reason = reasonOf(stream);
  return {
    stream_id: stream.streamId as Stream['stream_id'],
    status: stream.status,
    ...(reason !== null && { reason }),
  };
};
