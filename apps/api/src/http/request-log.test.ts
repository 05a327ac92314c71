import { connect } from 'node:net';
import { createLogger } from '@svc/process';
import { describe, expect, it } from 'vitest';
import { startService, TOKENS } from '../../test/world/http-fixture.ts';

describe('The request log and metrics', () => {
  it('log one line per request with id, route, status, duration and key id, and no secret, path or body', async () => {
    const { call, log } = await startService();
    await call('POST', '/verify', {
      token: TOKENS.rp,
      body: { grant: 'grant-canary', proof: 'proof-canary', action: { canary: 'action-canary' } },
    });
    await call('GET', '/nothing?canary=query-canary', { token: 'dk_rp_key-canary' });
    await expect.poll(() => log.length).toBe(2);
    const [verify, nothing] = log.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(verify).toMatchObject({
      route: 'verify',
      method: 'POST',
      status: 200,
      keyId: '1'.repeat(12),
      msg: 'request',
    });
    expect(verify?.durationMs).toBeTypeOf('number');
    expect(nothing).toMatchObject({ route: 'none', status: 404 });
    expect(log.join('')).not.toMatch(/canary|dk_rp/);
  });

  it('drop log members that are named like a secret', () => {
    const lines: string[] = [];
    const logger = createLogger('info', { write: (line: string) => lines.push(line) });
    const secret = 'canary';
    logger.info({
      authorization: secret,
      a: { api_key: secret, b: { proof: secret } },
      body: { grant: secret },
      headers: { authorization: secret },
    });
    expect(lines.join('')).not.toContain(secret);
  });

  it('count failed authentications by their problem', async () => {
    const { call, registry } = await startService();
    await call('GET', '/me');
    await call('GET', '/me', { token: 'dk_rp_unknown' });
    const text = await registry.metrics();
    expect(text).toContain('svc_authentication_failures_total{problem="no credential"} 1');
    expect(text).toContain('svc_authentication_failures_total{problem="unknown or revoked"} 1');
    expect(text).toContain('svc_authentication_failures_total{problem="too many before"} 0');
  });

  it('count requests by route and status, and none stays in flight', async () => {
    const { call, registry } = await startService();
    await call('GET', '/healthz');
    await call('GET', '/nothing');
    await call('GET', '/me');
    await expect.poll(() => registry.metrics()).toContain('svc_http_requests_in_flight 0');
    const text = await registry.metrics();
    expect(text).toContain('svc_http_requests_total{route="getHealth",status="200"} 1');
    expect(text).toContain('svc_http_requests_total{route="none",status="404"} 1');
    expect(text).toContain('svc_http_requests_total{route="getMe",status="401"} 1');
    expect(text).toContain('svc_http_request_duration_seconds_count{route="getHealth"} 1');
  });

  it('count a disconnected client as status 0, and other calls are still answered', async () => {
    const { call, port, registry } = await startService();
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `POST /verify HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.rp}\r\nContent-Length: 9\r\n\r\n{`,
      () => socket.destroy(),
    );
    await expect
      .poll(() => registry.metrics())
      .toContain('svc_http_requests_total{route="verify",status="0"} 1');
    expect((await call('GET', '/healthz')).status).toBe(200);
  });
});
