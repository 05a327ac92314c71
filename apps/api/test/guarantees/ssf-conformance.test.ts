/**
 * The requirements of OpenID SSF 1.0, CAEP 1.0 and RFC 8417, 8935 and 8936 for a transmitter, one by one, as a receiver
 * sees them from outside: the same ground as a conformance suite. Each title names its source, and in brackets the
 * modules of the OpenID Foundation's transmitter plan (OIDSSFTransmitterTestPlan, without their common prefix) that
 * require the same. This certifies nothing; docs/divergences.md lists the differences.
 */
import { decodeProtectedHeader, type JWTPayload } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  CREDENTIAL_CHANGE,
  NO_STREAM,
  type Stream,
  startGateway,
  VERIFICATION,
  withStreams,
} from '../endpoints/ssf/world.ts';
import { issueGrant } from '../world/tenants.ts';

const { pushed, map } = await startGateway();
const world = withStreams(map);

const POLL = 'urn:ietf:rfc:8936';
const PUSH = 'urn:ietf:rfc:8935';
const PUSHED = {
  method: PUSH,
  endpoint_url: 'https://gateway.example/',
  authorization_header: 'Bearer conformance',
};
const unknown = `?stream_id=${NO_STREAM}`;

describe('metadata [MetadataTest]', () => {
  let metadata: Readonly<Record<string, unknown>>;
  beforeAll(async () => {
    const answer = await world.deployment.call('GET', '/.well-known/ssf-configuration');
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    metadata = answer.json;
  });

  it.each<[string, () => void]>([
    [
      'SSF §7.1: issuer is a URL without query and fragment',
      () => expect(new URL(String(metadata.issuer))).toMatchObject({ search: '', hash: '' }),
    ],
    ['SSF §7.1: spec_version is 1_0', () => expect(metadata.spec_version).toBe('1_0')],
    [
      'SSF §7.1: delivery_methods_supported contains the URNs of push and poll',
      () => expect(metadata.delivery_methods_supported).toEqual([PUSH, POLL]),
    ],
    [
      'SSF §7.1: default_subjects is ALL or NONE',
      () => expect(['ALL', 'NONE']).toContain(metadata.default_subjects),
    ],
    [
      'SSF §7.1: authorization_schemes contains RFC 6750 bearer tokens',
      () => expect(metadata.authorization_schemes).toEqual([{ spec_urn: 'urn:ietf:rfc:6750' }]),
    ],
    [
      'SSF §7.1: each endpoint is a URL under the issuer',
      () => {
        for (const name of ['jwks_uri', 'configuration_endpoint', 'status_endpoint', 'verification_endpoint'])
          expect(String(metadata[name]).startsWith(`${metadata.issuer}/`)).toBe(true);
      },
    ],
  ])('%s', (_, condition) => condition());

  it('SSF §8.1.3 [SubjectControlHappyPathTest] does not apply: there are no endpoints to add or remove subjects', async () => {
    for (const name of ['add_subject_endpoint', 'remove_subject_endpoint'])
      expect(metadata).not.toHaveProperty(name);
    for (const path of ['/ssf/subjects/add', '/ssf/subjects/remove'])
      expect((await world.call('POST', path, {})).status).toBe(404);
  });

  it('SSF §7.1: jwks_uri contains keys with a kid and without private members', async () => {
    const { json } = await world.deployment.call('GET', '/ssf/jwks.json');
    const { keys } = json as { keys: Record<string, unknown>[] };
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect([typeof key.kid, 'd' in key]).toEqual(['string', false]);
  });
});

describe('access and errors', () => {
  type Asked = [method: string, path: string, body: object | undefined];
  const routes: Asked[] = [
    ['GET', '/ssf/streams', undefined],
    ['POST', '/ssf/streams', {}],
    ['PATCH', '/ssf/streams', { stream_id: NO_STREAM }],
    ['PUT', '/ssf/streams', { stream_id: NO_STREAM }],
    ['DELETE', `/ssf/streams${unknown}`, undefined],
    ['GET', `/ssf/status${unknown}`, undefined],
    ['POST', '/ssf/status', { stream_id: NO_STREAM, status: 'enabled' }],
    ['POST', '/ssf/verify', { stream_id: NO_STREAM }],
    ['POST', `/ssf/streams/${NO_STREAM}/poll`, { returnImmediately: true }],
  ];

  it.each(routes)(
    'SSF §8.1 [Create-, Read-, Update-, Replace-, DeleteStreamWithInvalidAccessToken, ReadStreamWithoutAccessToken, ReadStreamStatusWithInvalidAccessToken, PollEndpointAuthorizationTest]: %s %s without a key, or with a wrong one, is 401',
    async (method, path, body) => {
      for (const key of [undefined, 'dk_rp_wrong'])
        expect((await world.deployment.call(method, path, { ...(key && { key }), body })).status).toBe(401);
    },
  );

  it.each<Asked>([...routes.slice(2), ['GET', `/ssf/streams${unknown}`, undefined]])(
    'SSF §8.1 [Read-, Update-, Replace-, DeleteUnknownStream, ReadStatusOfUnknownStream, StreamVerificationUnknownStream]: %s %s of an unknown stream is 404',
    async (method, path, body) => expect((await world.call(method, path, body)).status).toBe(404),
  );

  it('SSF §8.1: every call for a stream of another receiver is 404, and the list does not contain it', async () => {
    const { stream_id } = await world.create();
    const { rpKey } = await world.deployment.createTenants();
    for (const [method, path, body] of routes.slice(2)) {
      const theirs = path.replace(NO_STREAM, stream_id);
      const sent = body && { ...body, ...('stream_id' in body && { stream_id }) };
      expect((await world.call(method, theirs, sent, rpKey)).status).toBe(404);
    }
    expect((await world.call('GET', '/ssf/streams', undefined, rpKey)).text).toBe('[]');
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it.each([
    ['PATCH', { aud: 'https://another.example' }],
    ['PUT', { aud: ['https://another.example'] }],
    ['PATCH', { iss: 'https://another.example' }],
    ['PUT', { events_supported: [] }],
    ['PATCH', { events_delivered: [] }],
    ['PATCH', { delivery: { method: POLL, endpoint_url: 'https://another.example/' } }],
    ['PATCH', { delivery: { method: 'urn:example:carrier-pigeon' } }],
  ])(
    'SSF §8.1.1.3, §8.1.1.4: %s with %j, which the transmitter does not accept, is 400 and changes nothing',
    async (method, wrong) => {
      const stream = await world.create();
      expect((await world.call(method, '/ssf/streams', { ...stream, ...wrong })).status).toBe(400);
      expect((await world.call('GET', `/ssf/streams?stream_id=${stream.stream_id}`)).json).toEqual(stream);
      await world.call('DELETE', `/ssf/streams?stream_id=${stream.stream_id}`);
    },
  );

  it('SSF §8.1 [CreateStreamWithBrokenInput, Update-, ReplaceStreamWithInvalidBody, StreamVerificationInvalidBody]: a body that is not JSON is 400', async () => {
    for (const path of ['/ssf/streams', '/ssf/status', '/ssf/verify'])
      expect((await world.call('POST', path, '{')).status).toBe(400);
    for (const method of ['PATCH', 'PUT'])
      expect((await world.call(method, '/ssf/streams', '{')).status).toBe(400);
  });

  it('CAEP interoperability §2.7.2 [ReadStreamWithTokenInUriQuery]: a key in the query instead of the header is 401', async () => {
    const { stream_id } = await world.create();
    const asked = `/ssf/streams?stream_id=${stream_id}&access_token=${world.key}`;
    expect((await world.deployment.call('GET', asked)).status).toBe(401);
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it('CAEP interoperability §2.7.3 [CreateStreamWithReadOnlyToken]: an org:read key gets 403 when it creates, changes or deletes a stream', async () => {
    const orgId = await world.deployment.createOrg();
    const admin = await world.deployment.createKey('org:admin', orgId);
    const reader = await world.deployment.createKey('org:read', orgId);
    const { stream_id } = await world.create(undefined, admin);
    const refused: Asked[] = [
      ['POST', '/ssf/streams', {}],
      ['PATCH', '/ssf/streams', { stream_id, description: 'Changed' }],
      ['DELETE', `/ssf/streams?stream_id=${stream_id}`, undefined],
    ];
    for (const [method, path, body] of refused)
      expect((await world.call(method, path, body, reader)).status).toBe(403);
  });

  it('SSF §8.1.1.1 [CreateStreamWithDuplicateConfig] requires 409 or 201: a second stream is created with another id and poll URL', async () => {
    const [first, second] = [await world.create(), await world.create()];
    expect(second.stream_id).not.toBe(first.stream_id);
    expect(second.delivery.endpoint_url).not.toBe(first.delivery.endpoint_url);
    for (const { stream_id } of [first, second])
      await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it('SSF §6.1.1 [PushNoAuthTest, StreamVerificationPushNoAuthTest]: a push without a configured authorization_header has no Authorization', async () => {
    const delivery = { method: PUSH, endpoint_url: PUSHED.endpoint_url };
    const { stream_id } = await world.create({ delivery, events_requested: [CREDENTIAL_CHANGE] });
    pushed.length = 0;
    expect((await world.call('POST', '/ssf/verify', { stream_id })).status).toBe(204);
    await world.move();
    expect(pushed.map(({ headers }) => 'authorization' in headers)).toEqual([false]);
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });
});

describe.each([
  ['polled', { method: POLL }],
  ['pushed', PUSHED],
])('a stream that is %s', (_, delivery) => {
  const isPushed = delivery.method === PUSH;
  const requested = [
    CREDENTIAL_CHANGE,
    'https://schemas.openid.net/secevent/caep/event-type/session-revoked',
  ];
  let stream: Stream;
  const query = () => `?stream_id=${stream.stream_id}`;
  beforeAll(async () => {
    stream = await world.create({ delivery, events_requested: requested, description: 'Conformance' });
  });

  /** Resolves with the SET that `cause` produces, as the receiver gets and acknowledges it. */
  const reached = async (cause: () => Promise<unknown>): Promise<{ set: string; claims: JWTPayload }> => {
    pushed.length = 0;
    await cause();
    await world.move();
    const sets = isPushed
      ? pushed.map(({ set }) => set)
      : Object.values((await world.poll(stream.stream_id)).sets);
    expect(sets).toHaveLength(1);
    const [set = ''] = sets;
    const claims = await world.verified(set, stream);
    if (!isPushed) await world.poll(stream.stream_id, { ack: [claims.jti], maxEvents: 0 });
    return { set, claims };
  };

  it('SSF §8.1.1 [StreamControlHappyPathTest]: its configuration has all members that the transmitter supplies', () => {
    expect(Object.keys(stream)).toEqual(
      expect.arrayContaining([
        'stream_id',
        'iss',
        'aud',
        'events_supported',
        'events_requested',
        'events_delivered',
        'delivery',
        'min_verification_interval',
      ]),
    );
    expect(stream.stream_id).toMatch(/^[\w.~-]+$/);
  });

  it('SSF §8.1.1: events_delivered is the intersection of events_requested and events_supported', () => {
    expect(stream.events_delivered).toEqual(requested.filter((uri) => stream.events_supported.includes(uri)));
  });

  it('SSF §6.1: delivery has the requested method and an endpoint_url, for poll one that contains the stream id', () => {
    expect(stream.delivery).toEqual({
      method: delivery.method,
      endpoint_url: isPushed
        ? PUSHED.endpoint_url
        : expect.stringContaining(`${stream.iss}/ssf/streams/${stream.stream_id}/`),
    });
  });

  it('SSF §8.1.1.2: GET returns it as it was created, alone and in the list', async () => {
    expect((await world.call('GET', `/ssf/streams${query()}`)).json).toEqual(stream);
    expect(JSON.parse((await world.call('GET', '/ssf/streams')).text)).toContainEqual(stream);
  });

  it('SSF §8.1.1.3 [StreamControlHappyPathTest]: PATCH changes only the members that it contains', async () => {
    const { stream_id } = stream;
    const changed = await world.call('PATCH', '/ssf/streams', { stream_id, description: 'Changed' });
    expect([changed.status, changed.json]).toEqual([200, { ...stream, description: 'Changed' }]);
  });

  it('SSF §8.1.1.4 [StreamControlHappyPathTest]: PUT accepts the configuration as it was read', async () => {
    const sent = { ...stream, delivery: isPushed ? PUSHED : stream.delivery };
    const replaced = await world.call('PUT', '/ssf/streams', sent);
    expect([replaced.status, replaced.json]).toEqual([200, stream]);
  });

  it('SSF §8.1.2 [StreamControlHappyPathTest]: its status is enabled at first, can be set to each value, and is read as it was set', async () => {
    const { stream_id } = stream;
    expect((await world.call('GET', `/ssf/status${query()}`)).json).toEqual({ stream_id, status: 'enabled' });
    for (const status of ['paused', 'disabled', 'enabled']) {
      const set = await world.call('POST', '/ssf/status', { stream_id, status, reason: 'of a test' });
      expect([set.status, set.json]).toEqual([200, { stream_id, status, reason: 'of a test' }]);
      expect((await world.call('GET', `/ssf/status${query()}`)).json).toEqual(set.json);
    }
  });

  it('SSF §8.1.4 [StreamVerificationEventsTest, -PushTest, -PollOnlyTest]: a verification is 204 without a body; its event has the state and the stream as subject, although its type was not requested', async () => {
    const state = 'VGhpcyBpcyBhbiBleGFtcGxl';
    const { claims } = await reached(async () => {
      const asked = await world.call('POST', '/ssf/verify', { stream_id: stream.stream_id, state });
      expect([asked.status, asked.text]).toEqual([204, '']);
    });
    expect(claims.events).toEqual({ [VERIFICATION]: { state } });
    expect(claims.sub_id).toEqual({ format: 'opaque', id: stream.stream_id });
  });

  it('SSF §8.1.4.2: a second verification within min_verification_interval is 429 with Retry-After', async () => {
    const again = await world.call('POST', '/ssf/verify', { stream_id: stream.stream_id });
    expect([again.status, Number(again.headers['retry-after']) > 0]).toEqual([429, true]);
  });

  describe('its SET of a revocation [EventsTest, StreamCaepInteropTest]', () => {
    let set: string;
    let claims: JWTPayload;
    let said: Readonly<Record<string, unknown>>;
    beforeAll(async () => {
      const { grantId } = await issueGrant(world.tenants);
      ({ set, claims } = await reached(() => world.tenants.principal.grants.revoke(grantId)));
      said = (claims.events as Record<string, Record<string, unknown>>)[CREDENTIAL_CHANGE] ?? {};
    });

    it.each<[string, () => void]>([
      ['SSF §4.1.1: typ is secevent+jwt', () => expect(decodeProtectedHeader(set).typ).toBe('secevent+jwt')],
      ['RFC 8417 §2.2: alg is EdDSA', () => expect(decodeProtectedHeader(set).alg).toBe('EdDSA')],
      ['SSF §4.1.6: iss is that of the stream', () => expect(claims.iss).toBe(stream.iss)],
      ['SSF §4.1.8: aud is that of the stream', () => expect(claims.aud).toBe(stream.aud)],
      ['RFC 8417 §2.2: jti is a string that is not empty', () => expect(claims.jti).toMatch(/./)],
      [
        'RFC 8417 §2.2: iat is the current time in seconds',
        () => expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(600),
      ],
      [
        'SSF §4.1.3: events has one member',
        () => expect(Object.keys(claims.events as object)).toEqual([CREDENTIAL_CHANGE]),
      ],
      [
        'SSF §4.1.2: sub_id is the DID of the Agent, with a format',
        () => expect(claims.sub_id).toMatchObject({ format: 'did', url: world.tenants.agent.did }),
      ],
      ['SSF §4.1.2: sub is absent', () => expect(claims).not.toHaveProperty('sub')],
      ['SSF §4.1.7: exp is absent', () => expect(claims).not.toHaveProperty('exp')],
      ['RFC 8417 §2.2: nbf is absent', () => expect(claims).not.toHaveProperty('nbf')],
      ['CAEP §3.3: change_type is revoke', () => expect(said.change_type).toBe('revoke')],
      [
        'CAEP §3.3: credential_type is verifiable-credential',
        () => expect(said.credential_type).toBe('verifiable-credential'),
      ],
      [
        'CAEP §2: event_timestamp equals iat, in seconds',
        () => expect(said.event_timestamp).toBe(claims.iat),
      ],
      ['SSF §4.1: the event has no member subject', () => expect(said).not.toHaveProperty('subject')],
    ])('%s', (_condition, condition) => condition());
  });

  it.runIf(isPushed)(
    'RFC 8935 §2.1, SSF §6.1.1: a push has one SET with media type, Accept and Authorization of the receiver, and is not repeated once accepted',
    async () => {
      const { grantId } = await issueGrant(world.tenants);
      await reached(() => world.tenants.principal.grants.revoke(grantId));
      expect(pushed[0]?.headers).toMatchObject({
        'content-type': 'application/secevent+jwt',
        accept: 'application/json',
        authorization: PUSHED.authorization_header,
      });
      await world.move();
      expect(pushed).toHaveLength(1);
    },
  );

  describe.runIf(!isPushed)('poll', () => {
    const tell = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const { grantId } = await issueGrant(world.tenants);
        await world.tenants.principal.grants.revoke(grantId);
      }
      await world.move();
    };
    const poll = (body: object = {}) => world.poll(stream.stream_id, body);

    it('RFC 8936 §2.4 [StreamVerificationPollAndAckTest, -SetErrsTest]: a SET is returned again under its jti until it is acknowledged or refused', async () => {
      await tell(2);
      const first = await poll();
      expect(await poll()).toEqual(first);
      const [taken = '', refused = ''] = Object.keys(first.sets);
      expect(Object.keys((await poll({ ack: [taken] })).sets)).toEqual([refused]);
      const setErrs = { [refused]: { err: 'invalid_audience', description: 'Not mine.' } };
      expect(await poll({ setErrs })).toEqual({ sets: {}, moreAvailable: false });
    });

    it('RFC 8936 §2.2 [StreamVerificationAckOnlyTest]: maxEvents limits an answer, moreAvailable is true if SETs remain, and maxEvents 0 only acknowledges', async () => {
      await tell(2);
      const one = await poll({ maxEvents: 1 });
      expect([Object.keys(one.sets).length, one.moreAvailable]).toEqual([1, true]);
      expect(await poll({ maxEvents: 0, ack: Object.keys(one.sets) })).toEqual({
        sets: {},
        moreAvailable: true,
      });
      const rest = await poll();
      await poll({ maxEvents: 0, ack: Object.keys(rest.sets) });
    });

    it('RFC 8936 §2.4 [StreamVerificationLongPollTest]: with returnImmediately an empty answer comes at once; without it, the answer waits for the first SET', async () => {
      expect(await poll({ returnImmediately: true })).toEqual({ sets: {}, moreAvailable: false });
      const waiting = poll({ returnImmediately: false });
      await tell(1);
      const { sets } = await waiting;
      expect(Object.keys(sets)).toHaveLength(1);
      await poll({ maxEvents: 0, ack: Object.keys(sets) });
    });
  });

  it('SSF §8.1.1.5 [StreamControlHappyPathTest]: DELETE is 204 without a body, and the stream is 404 afterwards', async () => {
    const deleted = await world.call('DELETE', `/ssf/streams${query()}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await world.call('GET', `/ssf/streams${query()}`)).status).toBe(404);
    expect((await world.call('DELETE', `/ssf/streams${query()}`)).status).toBe(404);
  });
});
