import { ERROR_STATUS, type ErrorCode } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { examplePath, startService, TOKENS } from '../../test/world/http-fixture.ts';
import { ApiError } from './api-error.ts';

describe('Request ids', () => {
  it.each(['a', 'trace 1/2;x=~', 'x'.repeat(128)])('X-Request-ID %j is used and echoed', async (id) => {
    const { call, log } = await startService();
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect([headers.get('svc-request-id'), headers.get('x-request-id')]).toEqual([id, id]);
    await expect.poll(() => log.join('')).toContain(JSON.stringify(id));
  });

  it.each(['', 'x'.repeat(1_025), 'caf\u0085', 'a\tb'])('X-Request-ID %j is ignored', async (id) => {
    const { call } = await startService();
    const { headers } = await call('GET', '/healthz', { headers: { 'x-request-id': id } });
    expect(headers.get('svc-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-request-id')).toBeNull();
  });
});

describe('Errors', () => {
  it.each(Object.keys(ERROR_STATUS) as ErrorCode[])('ApiError %s has its status and body', async (code) => {
    const { call } = await startService({
      handlers: {
        getMe: async () => {
          throw new ApiError(code, 'said', { detail: 'unsaid', cause: new Error('unsaid') });
        },
      },
    });
    const { status, json, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, json]).toEqual([ERROR_STATUS[code], { error: code, message: 'said.' }]);
    expect(headers.get('link')).toBe(`<https://svc.example/guide/errors/${code}>; rel="help"`);
    expect(headers.get('www-authenticate')).toBe(code === 'UNAUTHORIZED' ? 'Bearer' : null);
    expect(headers.get('retry-after')).toBe(code === 'SERVICE_UNAVAILABLE' ? '1' : null);
  });

  it('of any other kind are INTERNAL, logged with the request id, and not shown to the client', async () => {
    const { call, log } = await startService({
      handlers: {
        getMe: async () => {
          throw new Error('relation "secrets" does not exist');
        },
      },
    });
    const { status, json, text, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, json.error]).toEqual([500, 'INTERNAL']);
    expect(text).not.toContain('secrets');
    const id = headers.get('svc-request-id');
    expect(log.some((line) => line.includes('secrets') && line.includes(String(id)))).toBe(true);
  });

  it('of inner layers are translated by toApiError', async () => {
    class Down extends Error {}
    const { call } = await startService({
      deps: {
        toApiError: (error) =>
          error instanceof Down
            ? new ApiError('SERVICE_UNAVAILABLE', 'down', { retryAfterSeconds: 3 })
            : null,
      },
      handlers: {
        getMe: async () => {
          throw new Down();
        },
      },
    });
    const { status, headers } = await call('GET', '/me', { token: TOKENS.rp });
    expect([status, headers.get('retry-after')]).toEqual([503, '3']);
  });

  it.each([
    [503, new ApiError('SERVICE_UNAVAILABLE', 'the key store is unreachable')],
    [500, new Error('an unknown fault')],
  ])(
    'of a failing authentication are %i, not 401, and carry the rate limit headers',
    async (code, problem) => {
      const { call } = await startService({ deps: { authenticate: () => Promise.reject(problem) } });
      for (const path of ['/verify', '/verify?']) {
        const { status, headers } = await call('POST', path, { token: TOKENS.rp, body: {} });
        expect([status, headers.get('ratelimit-limit')]).toEqual([code, '20']);
      }
    },
  );
});

describe('Raw answers', () => {
  it('are sent byte for byte with the content type and headers of the handler', async () => {
    const bytes = new Uint8Array([0, 255, 10, 13, 128]);
    const { base } = await startService({
      handlers: {
        getEvidence: async () => ({
          status: 200,
          rawBody: bytes,
          contentType: 'application/octet-stream',
          headers: { 'Cache-Control': 'public, max-age=31536000, immutable' },
        }),
      },
    });
    const response = await fetch(base + examplePath('getEvidence'));
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('of JSON text are sent unchanged, without being parsed and serialized again', async () => {
    const text = '{ "ok":true , "env":"production" }';
    const { call } = await startService({
      handlers: { getHealth: async () => ({ status: 200, rawBody: text }) },
    });
    const answer = await call('GET', '/healthz');
    expect([answer.text, answer.headers.get('cache-control')]).toEqual([text, 'no-store']);
  });
});

describe('The status host', () => {
  it('serves status lists at the bare path and at the absolute URL; other routes are 404', async () => {
    const seen: unknown[] = [];
    const { raw } = await startService({
      deps: { statusHost: 'status.svc.example' },
      handlers: {
        getStatusList: async ({ params }) => {
          seen.push({ ...params });
          return { status: 200, rawBody: 'a.b.c', contentType: 'application/vc+jwt' };
        },
      },
    });
    const get = (line: string) =>
      raw(`${line} HTTP/1.1\r\nHost: Status.svc.example\r\nAccept: text/html\r\nConnection: close\r\n\r\n`);
    expect(await get('GET /svc.example/1')).toMatch(/^HTTP\/1\.1 200 [\s\S]*a\.b\.c$/);
    expect(await get('GET https://status.svc.example/svc.example/1')).toMatch(
      /^HTTP\/1\.1 200 [\s\S]*a\.b\.c$/,
    );
    expect(seen).toEqual(Array(2).fill({ domain: 'svc.example', number: '1' }));
    for (const origin of ['', 'http://status.svc.example']) {
      // A browser gets JSON too, since the files and links of the error page do not exist on this host.
      expect(await get(`GET ${origin}/healthz`)).toMatch(/^HTTP\/1\.1 404 [\s\S]*{"error":"NOT_FOUND"/);
      expect(await get(`POST ${origin}/verify`)).toMatch(/^HTTP\/1\.1 404 /);
      expect(await get(`GET ${origin}/svc.example/1?x=1`)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it('serves checkpoints, their leaves, inclusion proofs and attestations at their usual paths, and decisions not', async () => {
    const asked: string[] = [];
    const answer = (name: string) => async () => {
      asked.push(name);
      return { status: 200 as const, rawBody: '{}' };
    };
    async function* noLeaves(): AsyncGenerator<string> {}
    const { raw } = await startService({
      deps: { statusHost: 'status.svc.example' },
      handlers: {
        getLatestCheckpoint: answer('latest'),
        getCheckpoint: answer('day'),
        getCheckpointLeaves: async () => {
          asked.push('leaves');
          return {
            status: 200 as const,
            stream: noLeaves(),
            contentType: 'text/plain; charset=utf-8' as const,
          };
        },
        getInclusion: answer('inclusion'),
        getAttestation: answer('attestation'),
        getDecision: answer('decision'),
        getBundle: answer('bundle'),
      },
    });
    const statusOf = async (line: string) =>
      (await raw(`${line} HTTP/1.1\r\nHost: status.svc.example\r\nConnection: close\r\n\r\n`)).slice(9, 12);
    const decision = '/decisions/drc_01M7VZGC008Q2R7V9X1C4E6H8J';
    const proofs = [`${decision}/inclusion`, `${decision}/attestation`];
    const whole = 'https://status.svc.example/checkpoints/latest';
    const day = '/checkpoints/2026-11-20';
    const served = ['/checkpoints/latest', whole, day, `${day}/leaves`, ...proofs];
    for (const path of served) {
      expect(await statusOf(`GET ${path}`)).toBe('200');
      expect(await statusOf(`HEAD ${path}`)).toBe('200');
      expect(await statusOf(`PUT ${path}`)).toBe('405');
    }
    for (const path of [decision, `${decision}/bundle`, `${decision}/inclusion/x`, '/checkpoints'])
      expect([path, await statusOf(`GET ${path}`)]).toEqual([path, '404']);
    const twice = (name: string) => [name, name];
    expect(asked).toEqual(['latest', 'latest', 'day', 'leaves', 'inclusion', 'attestation'].flatMap(twice));
  });
});

describe('The reference', () => {
  it('/openapi.json is the OpenAPI document with this service as its server', async () => {
    const { call } = await startService();
    const { status, json } = await call('GET', '/openapi.json');
    expect(status).toBe(200);
    expect(json).toMatchObject({ openapi: '3.1.0', servers: [{ url: 'https://svc.example' }] });
  });
});
