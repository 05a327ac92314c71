import { Registry } from 'prom-client';
import { expect, it, onTestFinished } from 'vitest';
import { createAdminService, type Readiness } from './admin-service.ts';
import { createLogger } from './logger.ts';

const start = async (readiness: () => Promise<Readiness>) => {
  const admin = createAdminService({
    registry: new Registry(),
    readiness,
    logger: createLogger('silent' as 'info', { write: () => undefined }),
  });
  const { port } = await admin.listen(0, '127.0.0.1');
  onTestFinished(() => admin.close());
  return (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method });
};

it('the admin service answers /livez, /readyz, /servez and /metrics, by the readiness of the process', async () => {
  let [ok, serves] = [true, true];
  const get = await start(async () => ({ ok, serves, checks: { database: ok ? 'ok' : 'unreachable' } }));
  expect((await get('/livez')).status).toBe(200);
  expect((await get('/readyz')).status).toBe(200);
  ok = false;
  const unready = await get('/readyz');
  expect([unready.status, await unready.json()]).toEqual([
    503,
    { ok: false, checks: { database: 'unreachable' } },
  ]);
  const serving = await get('/servez');
  expect([serving.status, await serving.json()]).toEqual([
    200,
    { ok: true, checks: { database: 'unreachable' } },
  ]);
  serves = false;
  expect((await get('/servez')).status).toBe(503);
  expect((await get('/livez')).status).toBe(200);
  expect((await get('/metrics')).headers.get('content-type')).toContain('text/plain');
  expect((await get('/other')).status).toBe(404);
  expect((await get('/livez', 'POST')).status).toBe(405);
});

it.each([
  ['0.0.0.0', 1],
  ['127.0.0.1', 0],
])('on %s the admin service warns %d times that nothing protects it', async (host, warnings) => {
  const lines: string[] = [];
  const admin = createAdminService({
    registry: new Registry(),
    readiness: async () => ({ ok: true, serves: true, checks: {} }),
    logger: createLogger('warn', { write: (line) => void lines.push(line) }),
  });
  await admin.listen(0, host);
  await admin.close();
  expect(lines.filter((line) => line.includes('SVC_ADMIN_HOST'))).toHaveLength(warnings);
});
