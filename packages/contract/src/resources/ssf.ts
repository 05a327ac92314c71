/** Event streams of the Shared Signals Framework 1.0 (protocol §17), in the shapes of that specification. */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { integer, label, oneLine, prose, streamId, text } from '../formats.ts';

export const POLL_METHOD = 'urn:ietf:rfc:8936';
export const PUSH_METHOD = 'urn:ietf:rfc:8935';

const STREAM_ID = 'ssf_01M7VZGC008Q2R7V9X1C4E6H8T';
const ISSUER = 'https://svc.example';
const REVOKED = 'https://schemas.openid.net/secevent/caep/event-type/credential-change';
const JTI = `evt_01M7VZGC008Q2R7V9X1C4E6H8K.${STREAM_ID}`;

const uri = oneLine(0, 512, 'must be the URI of an event type, of at most 512 characters');
const uris = z
  .array(uri, { error: 'must be a list of event type URIs' })
  .max(64, { error: 'must name at most 64 event types' });

const polled = z.strictObject({
  method: z.literal(POLL_METHOD).meta({ description: 'Poll (RFC 8936).' }),
  endpoint_url: z.string().max(2048).optional().meta({
    description: 'Where to poll this service. You may omit it; another value is refused.',
  }),
});

const pushed = z.strictObject({
  method: z.literal(PUSH_METHOD).meta({ description: 'Push (RFC 8935).' }),
  endpoint_url: text(/^[\x21-\x7e]{1,2048}$/, 'must be a URL in its normal form').meta({
    description: 'Where the service sends SETs to the receiver. https, port 443, of a public host name.',
  }),
  authorization_header: text(
    /^[\x21-\x7e](?:[\x20-\x7e]{0,4094}[\x21-\x7e])?$/,
    'must be the value of an Authorization header: 1 to 4,096 visible characters and spaces, none of these first or last',
  )
    .optional()
    .meta({ description: 'Sent with each SET as `Authorization`. It is never shown again.' }),
});

const delivery = z.discriminatedUnion('method', [polled, pushed], {
  error: `must have a method, ${POLL_METHOD} or ${PUSH_METHOD}`,
});

/** What a receiver may set for its stream. */
const wanted = {
  events_requested: uris.optional().meta({ description: 'Unknown types are ignored.' }),
  delivery: delivery.optional(),
  description: label.optional(),
};

/** What only the transmitter sets. A receiver may send back the values that it has read. */
const given = {
  iss: z.string().max(2048).optional(),
  aud: z.union([z.string().max(1024), z.array(z.string().max(1024)).max(8)]).optional(),
  events_supported: uris.optional(),
  events_delivered: uris.optional(),
  min_verification_interval: z.int().optional(),
};

export const streamRequest = z.strictObject(wanted).meta({
  id: 'StreamRequest',
  example: { events_requested: [REVOKED], delivery: { method: POLL_METHOD }, description: 'Gateway' },
});

export const streamChange = z.strictObject({ stream_id: streamId, ...wanted, ...given }).meta({
  id: 'StreamChange',
  example: { stream_id: STREAM_ID, events_requested: [REVOKED] },
});

const streamExample = {
  stream_id: STREAM_ID,
  iss: ISSUER,
  aud: EXAMPLE.relyingParty,
  events_supported: [REVOKED, `${ISSUER}/event-types/decision.deny`],
  events_requested: [REVOKED],
  events_delivered: [REVOKED],
  delivery: { method: POLL_METHOD, endpoint_url: `${ISSUER}/ssf/streams/${STREAM_ID}/poll` },
  min_verification_interval: 30,
};

export const stream = z
  .strictObject({
    stream_id: streamId,
    iss: z.string(),
    aud: z.string().meta({ description: 'DID or org id of the key’s subject.' }),
    events_supported: z.array(z.string()),
    events_requested: z.array(z.string()),
    events_delivered: z.array(z.string()),
    delivery: z.strictObject({ method: z.string(), endpoint_url: z.string() }).meta({
      description: 'An `authorization_header` is not shown.',
    }),
    min_verification_interval: z.int().meta({ description: 'In seconds.' }),
    description: z.string().optional(),
  })
  .meta({ id: 'Stream', example: streamExample });

export const streamOrList = z
  .union([stream, z.array(stream)])
  .meta({ id: 'StreamOrList', example: [streamExample] });

const status = z
  .enum(['enabled', 'paused', 'disabled'], { error: 'must be enabled, paused or disabled' })
  .meta({ description: '`paused`: events are kept for 30 days. `disabled`: events are not kept.' });

export const streamStatus = z
  .strictObject({ stream_id: streamId, status, reason: label.optional() })
  .meta({ id: 'StreamStatus', example: { stream_id: STREAM_ID, status: 'paused', reason: 'maintenance' } });

export const streamVerification = z
  .strictObject({
    stream_id: streamId,
    state: oneLine(0, 1024, 'must be at most 1,024 characters without control characters').optional(),
  })
  .meta({ id: 'StreamVerification', example: { stream_id: STREAM_ID, state: 'VGhpcyBpcyBhbiBleGFtcGxl' } });

const jti = oneLine(1, 128, 'must be the jti of a SET');
/** This number of names fits into a body of the common size. Up to 1,000 SETs of a stream can wait. */
const MAX_JTIS = 500;

/** Counts them before checking any, because a body has room for thousands. */
const refuseMany = (sets: unknown, check: z.RefinementCtx): unknown => {
  if (typeof sets === 'object' && sets !== null && Object.keys(sets).length > MAX_JTIS)
    check.addIssue(`must name at most ${MAX_JTIS} SETs`);
  return sets;
};

export const pollRequest = z
  .strictObject({
    maxEvents: integer(0, 1_000_000_000)
      .optional()
      .meta({ description: 'The maximum number of SETs to return, at most 100. 0: only acknowledge.' }),
    returnImmediately: z
      .boolean()
      .default(false)
      .meta({ description: 'Unless true, an answer without SETs waits up to 20 s.' }),
    ack: z
      .array(jti)
      .max(MAX_JTIS, { error: `must name at most ${MAX_JTIS} SETs` })
      .default([])
      .meta({ description: 'SETs that you accept.' }),
    setErrs: z
      .preprocess(
        refuseMany,
        z.record(
          jti,
          z.object({
            err: oneLine(0, 128, 'must be at most 128 characters'),
            description: prose(1024).optional(),
          }),
        ),
      )
      .default({})
      .meta({ description: 'SETs that you refuse; they are not returned again.' }),
  })
  .meta({ id: 'PollRequest', example: { maxEvents: 10, returnImmediately: true, ack: [JTI] } });

export const pollAnswer = z
  .strictObject({
    sets: z
      .record(z.string(), z.string())
      .meta({ description: 'By `jti`: compact JWS of typ `secevent+jwt`.' }),
    moreAvailable: z.boolean(),
  })
  .meta({ id: 'PollAnswer', example: { sets: {}, moreAvailable: false } });

export const ssfConfiguration = z
  .strictObject({
    spec_version: z.literal('1_0'),
    issuer: z.string(),
    jwks_uri: z.string(),
    delivery_methods_supported: z.array(z.string()),
    configuration_endpoint: z.string(),
    status_endpoint: z.string(),
    verification_endpoint: z.string(),
    authorization_schemes: z.array(z.strictObject({ spec_urn: z.string() })),
    default_subjects: z.literal('ALL'),
  })
  .meta({
    id: 'SsfConfiguration',
    example: {
      spec_version: '1_0',
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/ssf/jwks.json`,
      delivery_methods_supported: [PUSH_METHOD, POLL_METHOD],
      configuration_endpoint: `${ISSUER}/ssf/streams`,
      status_endpoint: `${ISSUER}/ssf/status`,
      verification_endpoint: `${ISSUER}/ssf/verify`,
      authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6750' }],
      default_subjects: 'ALL',
    },
  });
