/** A transmitter, its tenants, and a receiver that polls as a library does. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { deliverDue, openDeliverer, readConfig } from '@svc/process';
import { createLocalJWKSet, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import { Registry } from 'prom-client';
import { afterAll, beforeAll } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

export const CREDENTIAL_CHANGE = 'https://schemas.openid.net/secevent/caep/event-type/credential-change';
export const VERIFICATION = 'https://schemas.openid.net/secevent/ssf/event-type/verification';
/** Well formed, but the id of no stream. */
export const NO_STREAM = 'ssf_01M7VZGC008Q2R7V9X1C4E6H8R';

export const ROOT = 'a-root-for-tests-that-is-long-enough-0';

export interface Polled {
  readonly sets: Readonly<Record<string, string>>;
  readonly moreAvailable: boolean;
}

export interface Stream {
  readonly stream_id: string;
  readonly iss: string;
  readonly aud: string;
  readonly events_supported: readonly string[];
  readonly events_requested: readonly string[];
  readonly events_delivered: readonly string[];
  readonly delivery: { readonly method: string; readonly endpoint_url: string };
  readonly min_verification_interval: number;
  readonly description?: string;
}

export interface Pushed {
  readonly headers: IncomingHttpHeaders;
  readonly set: string;
}

/** Starts a server that accepts what is pushed to https://gateway.example/, until the end of the test file. */
export const startGateway = async () => {
  const pushed: Pushed[] = [];
  const server = createServer(async (request, response) => {
    pushed.push({ headers: request.headers, set: await text(request) });
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { pushed, map: JSON.stringify({ 'gateway.example': `http://127.0.0.1:${port}` }) };
};

/** Call it at the top of a test file. `map` is the `SVC_OUTBOUND_MAP` of hosts that get pushes. */
export const withStreams = (map = '{}') => {
  const deployment = withOwnDeployment({
    SVC_SSF: '1',
    SVC_OUTBOUND_MAP: map,
    SVC_WEBHOOK_KEYS: ROOT,
  });
  let tenants: Tenants | undefined;
  beforeAll(async () => {
    tenants = await deployment.createTenants();
  });
  const ownTenants = (): Tenants => {
    if (tenants === undefined) throw new Error('the tenants exist from beforeAll on');
    return tenants;
  };
  const ownKey = () => ownTenants().principalKey;
  const call = (method: string, path: string, body?: unknown, key = ownKey()) =>
    deployment.call(method, path, { key, ...(body === undefined ? {} : { body }) });
  const poll = async (id: string, body: object = {}, key = ownKey()): Promise<Polled> => {
    const answer = await call('POST', `/ssf/streams/${id}/poll`, { returnImmediately: true, ...body }, key);
    if (answer.status !== 200) throw new Error(answer.text);
    return answer.json as unknown as Polled;
  };
  /** The claims, verified as a receiver does: by the published keys, issuer, audience and type. */
  const verified = async (set: string, { iss, aud }: Pick<Stream, 'iss' | 'aud'>): Promise<JWTPayload> => {
    const { json } = await deployment.call('GET', '/ssf/jwks.json');
    const { payload } = await jwtVerify(set, createLocalJWKSet(json as unknown as JSONWebKeySet), {
      ...{ issuer: iss, audience: aud, typ: 'secevent+jwt', algorithms: ['EdDSA'] },
    });
    return payload;
  };
  return {
    deployment,
    get tenants() {
      return ownTenants();
    },
    /** The Principal's key. */
    get key() {
      return ownKey();
    },
    call,
    poll,
    verified,
    uriOf: (type: string) => `${deployment.process.service.identity.baseUrl}/event-types/${type}`,
    create: async (body: object = { events_requested: [CREDENTIAL_CHANGE] }, key = ownKey()) => {
      const { status, json, text: said } = await call('POST', '/ssf/streams', body, key);
      if (status !== 201) throw new Error(said);
      return json as unknown as Stream;
    },
    /** Moves events into the streams, as the worker does. */
    move: async (): Promise<void> => {
      const logger = {
        warn: (fields: unknown) => {
          throw new Error(JSON.stringify(fields));
        },
      };
      const deps = openDeliverer(
        deployment.process.service,
        readConfig({ SVC_SSF: '1', SVC_DEMO: '1', SVC_OUTBOUND_MAP: map }),
        logger,
        new Registry(),
      );
      if (deps === null) throw new Error('no deliverer');
      do await deliverDue(deps, new AbortController().signal);
      while ((await deployment.sql.query('select from event_outbox limit 1')).rowCount);
      await deliverDue(deps, new AbortController().signal);
    },
    /** The claims of the only SET. */
    claimsOfOnly: async ({ sets }: Polled, stream: Stream) => {
      const all = Object.entries(sets);
      const [[jti, set] = ['', '']] = all;
      if (all.length !== 1) throw new Error(`${all.length} SETs`);
      const claims = await verified(set, stream);
      if (claims.jti !== jti) throw new Error(`${claims.jti} stands under ${jti}`);
      return claims;
    },
  };
};
