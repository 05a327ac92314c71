/**
 * A running HTTP frame for tests: real sockets, a clock that tests set, keys in a table, and handlers that answer with
 * the example of their schema. `call` checks every answer against what its route declares.
 */
import { connect } from 'node:net';
import { type Route, type RouteId, routes } from '@svc/contract';
import { createLogger } from '@svc/process';
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import { type ApiKeyRecord, rpCaller } from '@svc/service';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import type { z } from 'zod';
import type { Caller, RpCaller } from '../../src/http/caller.ts';
import { HTTP_LIMITS, type HttpDeps } from '../../src/http/deps.ts';
import type { Handlers } from '../../src/http/handler.ts';
import { createHttpService } from '../../src/http/http-service.ts';
import { createHttpMetrics } from '../../src/http/metrics.ts';
import { findResponseProblem } from './response-check.ts';

export const TOKENS = {
  rp: 'dk_rp_one',
  otherRp: 'dk_rp_two',
  principal: 'dk_principal_one',
  orgRead: 'dk_org_read_one',
  orgAdmin: 'dk_org_admin_one',
  observer: 'dk_observer_one',
  admin: 'admin-token-admin-token-admin-token-1',
  provision: 'provision-key-provision-key-provision',
} as const;

const did = 'did:web:svc.example:rp:shop' as DidWeb;
const org = 'org_01KAGT3Z5M8Q2R7V9X1C4E6H8M' as OrgId;

const key = (digit: string, role: ApiKeyRecord['role']): ApiKeyRecord => ({
  keyHash: digit.repeat(64),
  keyId: digit.repeat(12) as ApiKeyId,
  role,
  subject: role.startsWith('org') ? org : did,
  label: null,
  createdAtMs: 0,
  revokedAtMs: null,
});

const withKey = (record: ApiKeyRecord) => ({ keyId: record.keyId, key: record });

const relyingParty = (verifyRateLimitPerMinute: number): RpCaller['relyingParty'] => ({
  did,
  kind: 'managed',
  slug: 'shop',
  name: 'Shop',
  proofWindowSeconds: 60,
  verifyRateLimitPerMinute,
  profile: 'svc-base-v1',
  orgId: null,
  claimExpiresAtMs: null,
  verificationToken: null,
  createdAtMs: 0,
  version: 1,
});

const CALLERS: Readonly<Record<string, Caller>> = {
  [TOKENS.rp]: rpCaller({
    key: key('1', 'rp'),
    relyingParty: relyingParty(5),
    entitlement: null,
    isNewcomer: false,
    isPaused: false,
  }),
  [TOKENS.otherRp]: rpCaller({
    key: key('2', 'rp'),
    relyingParty: relyingParty(7),
    entitlement: null,
    isNewcomer: false,
    isPaused: false,
  }),
  [TOKENS.principal]: {
    class: 'principal',
    subject: did,
    orgId: null,
    isNewcomer: false,
    ...withKey(key('3', 'principal')),
  },
  [TOKENS.orgRead]: {
    class: 'org',
    subject: org,
    role: 'read',
    isNewcomer: false,
    ...withKey(key('4', 'org:read')),
  },
  [TOKENS.orgAdmin]: {
    class: 'org',
    subject: org,
    role: 'admin',
    isNewcomer: false,
    ...withKey(key('5', 'org:admin')),
  },
  [TOKENS.observer]: { class: 'observer', subject: did, ...withKey(key('6', 'observer')) },
  [TOKENS.admin]: { class: 'admin', subject: null, keyId: null },
  [TOKENS.provision]: { class: 'provision', subject: null, keyId: null, ordinal: 0 },
};

const STATUS_LIST = 'eyJhbGciOiJFZERTQSJ9.eyJsaXN0Ijp0cnVlfQ.c2ln';

const exampleOf = (route: Route, status: number): unknown => {
  const declared = route.responses[status];
  if (declared === undefined || declared.kind === 'stream' || declared.kind === 'empty') return undefined;
  return (declared.schema?.meta() as { example?: unknown } | undefined)?.example;
};

async function* nothing(): AsyncGenerator<string> {}

/** Answers each route with its first declared status and that schema's example. */
const exampleHandlers = (): Handlers => {
  const handlers: Record<string, () => Promise<unknown>> = {};
  for (const [id, route] of Object.entries(routes) as [RouteId, Route][]) {
    const status = Number(Object.keys(route.responses)[0]);
    const declared = route.responses[status];
    const example = exampleOf(route, status);
    handlers[id] = async () =>
      declared?.kind === 'stream'
        ? { status, stream: nothing(), contentType: declared.contentTypes[0] }
        : declared?.kind === 'raw'
          ? {
              status,
              rawBody: example === undefined ? STATUS_LIST : JSON.stringify(example),
              contentType: declared.contentTypes[0],
            }
          : declared?.kind === 'empty'
            ? { status, isEmpty: true }
            : { status, body: example };
  }
  // The contract's own tests parse the examples with these schemas.
  return handlers as unknown as Handlers;
};

export interface Options {
  readonly handlers?: Partial<Handlers>;
  readonly deps?: Partial<Omit<HttpDeps, 'limits' | 'handlers'>>;
  readonly limits?: Partial<HttpDeps['limits']>;
}

export interface CallOptions {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly rawBody?: string | Uint8Array;
}

export interface Called {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: { readonly error?: string; readonly message?: string } & Readonly<Record<string, unknown>>;
}

/** 2026-11-20T08:00:00Z: the start of a rate limit window. */
const START_MS = Date.UTC(2026, 10, 20, 8);

export const startService = async (options: Options = {}) => {
  const clock = { ms: START_MS, nowMs: () => clock.ms };
  const log: string[] = [];
  const registry = new Registry();
  const authenticated: string[] = [];
  const revoked = new Set<string>();
  const service = createHttpService({
    clock,
    logger: createLogger('info', { write: (line: string) => log.push(line) }),
    metrics: createHttpMetrics(registry),
    authenticate: async (token) => {
      authenticated.push(token);
      return revoked.has(token) ? null : (CALLERS[token] ?? null);
    },
    publicBaseUrl: 'https://svc.example',
    statusHost: null,
    pages: [],
    errorPage: '',
    features: new Set(['sandbox', 'self-serve', 'webhooks', 'ssf'] as const),
    trustProxyHops: 0,
    toApiError: () => null,
    ...options.deps,
    handlers: { ...exampleHandlers(), ...options.handlers },
    limits: { ...HTTP_LIMITS, idleGraceMs: 0, ...options.limits },
  });
  const { port } = await service.listen(0, '127.0.0.1');
  const base = `http://127.0.0.1:${port}`;
  onTestFinished(async () => {
    await service.shutdown();
  });

  const call = async (
    method: string,
    path: string,
    { token, headers, body, rawBody }: CallOptions = {},
  ): Promise<Called> => {
    const sent = rawBody ?? (body === undefined ? null : JSON.stringify(body));
    const response = await fetch(base + path, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: sent as string | null,
    });
    const text = await response.text();
    checkDeclared(method, path, response, text);
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: text.startsWith('{') ? JSON.parse(text) : {},
    };
  };

  /** Writes bytes on one connection and collects the answer until the connection closes. */
  const raw = (...writes: readonly string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let seen = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk: string) => {
        seen += chunk;
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(seen));
      for (const write of writes) socket.write(write);
    });

  return { service, clock, log, registry, authenticated, revoked, port, base, call, raw };
};

const checkDeclared = (method: string, path: string, response: Response, text: string): void => {
  const route = matchRoute(method, path.split('?', 1)[0] ?? '');
  if (route === null || method === 'HEAD') return;
  const problem = findResponseProblem(route, {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    text,
  });
  if (problem !== null) throw new Error(problem);
};

const matchRoute = (method: string, path: string): Route | null => {
  const found = (Object.values(routes) as Route[]).filter(
    (route) =>
      route.method === method.toLowerCase() &&
      new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  // A fixed segment takes precedence over a parameter.
  return found.find((route) => !route.path.includes('{')) ?? found[0] ?? null;
};

/** A valid body for a route, from its schema's example. */
export const exampleBody = (id: RouteId): unknown => {
  const route: Route = routes[id];
  const meta = route.body?.meta() as { example?: unknown } | undefined;
  const option = (route.body as { options?: readonly { meta(): unknown }[] } | undefined)?.options?.[0];
  return meta?.example ?? (option?.meta() as { example?: unknown } | undefined)?.example;
};

/** A path of a route with its parameters filled in, and the required query. */
export const examplePath = (id: RouteId): string =>
  routes[id].path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(exampleParam(id, name))) +
  (EXAMPLE_QUERIES[id] ?? '');

const STREAM_ID = 'ssf_01M7VZGC008Q2R7V9X1C4E6H8T';
const EXAMPLE_QUERIES: Partial<Readonly<Record<RouteId, string>>> = {
  getPrincipalActivity: '?by=agent',
  deleteStream: `?stream_id=${STREAM_ID}`,
  getStreamStatus: `?stream_id=${STREAM_ID}`,
};

/** The first example that the route's own schema accepts, since one name can have two forms. */
const exampleParam = (id: RouteId, name: string): string => {
  const { params }: Route = routes[id];
  const schema: z.ZodType | undefined = params?.shape[name];
  const takes = (text: string) => schema?.safeParse(text).success === true;
  return (EXAMPLE_PARAMS[name] ?? []).find(takes) ?? name;
};

const EXAMPLE_PARAMS: Readonly<Record<string, readonly string[]>> = {
  day: ['2026-11-20'],
  id: ['urn:svc:grant:01M7VZGC008Q2R7V9X1C4E6H8J'],
  run_id: ['cfr_01KAGT3Z5M8Q2R7V9X1C4E6H8K'],
  receipt_id: ['drc_01KAGT3Z5M8Q2R7V9X1C4E6H8K'],
  org_id: ['org_01KAGT3Z5M8Q2R7V9X1C4E6H8M'],
  key_id: ['3fa1c09be742'],
  kid: ['did:web:localhost%3A8080:org:acme#key-1'],
  did: ['did:web:localhost%3A8080:rp:shop', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
  slug: ['acme'],
  hash: [`sha256:${'a'.repeat(64)}`],
  domain: ['localhost%3A8080'],
  number: ['1'],
  subscription_id: ['whs_01M7VZGC008Q2R7V9X1C4E6H8R'],
  stream_id: [STREAM_ID],
  request_id: ['arq_01M7VZGC008Q2R7V9X1C4E6H8S'],
};
