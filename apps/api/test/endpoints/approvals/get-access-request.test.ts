/** `GET /access/v1/requests/{request_id}`: the state of a request, and waiting for its decision. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, insertDue, read, reject, statusOf } from '../../world/approvals.ts';
import { freshAddress } from '../../world/contract-call.ts';
import { withDeployment } from '../../world/deployment.ts';
import { call, type HeldGrant, issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
  grant = await issueGrant(tenants);
});
const action = (resource: string) => ({
  type: 'commerce:purchase',
  resource,
  amount: 90_000,
  currency: 'USD',
});

describe('GET /access/v1/requests/{request_id}?wait', () => {
  it('answers on every node once one node has decided the request, and holds no database connection while waiting', async () => {
    const { id } = await ask(deployment, tenants, grant, action('order/w1'));
    const undecided = (await ask(deployment, tenants, grant, action('order/w0'))).id;
    // Sent before the others with the same wait: an answer that arrives before this one did not end by its timeout.
    const over = read(deployment, tenants, undecided, '?wait=20').then(() => 'over');
    const waiting = deployment.processes.flatMap(({ baseUrl }) =>
      Array.from({ length: 12 }, () =>
        call(baseUrl, 'GET', `/access/v1/requests/${id}?wait=20`, { key: tenants.rpKey }),
      ),
    );
    // More than the connections that a node has for reads: other calls are answered meanwhile.
    for (let i = 0; i < 10; i++)
      expect((await deployment.call('GET', '/me', { key: tenants.rpKey })).status).toBe(200);
    await reject(deployment, tenants, id, { reason: 'no' });
    const answers = await Promise.race([Promise.all(waiting), over]);
    if (answers === 'over') throw new Error('it was not told');
    for (const { text } of answers as Awaited<(typeof waiting)[number]>[])
      expect(JSON.parse(text)).toMatchObject({ task: { status: 'denied' }, reason: 'no' });
    await reject(deployment, tenants, undecided);
    await over;
  });

  it('answers pending after the wait, or expired if the request expires before', async () => {
    const { id } = await ask(deployment, tenants, grant, action('order/w2'));
    const began = performance.now();
    expect(statusOf(await read(deployment, tenants, id, '?wait=1'))).toBe('pending');
    expect(performance.now() - began).toBeGreaterThan(950);
    const due = await insertDue(deployment, id);
    expect(statusOf(await read(deployment, tenants, due, '?wait=20'))).toBe('expired');
  });

  it('is limited to 32 waits of one relying party per node (429); a read without wait is still answered', async () => {
    const { id } = await ask(deployment, tenants, grant, action('order/w3'));
    const asked = Array.from({ length: 40 }, () => read(deployment, tenants, id, '?wait=20'));
    const answers = Promise.all(asked);
    await Promise.race(asked);
    expect((await read(deployment, tenants, id)).status).toBe(200);
    await reject(deployment, tenants, id);
    const statuses = (await answers).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(32);
    expect(statuses).toContain(429);
  });

  it('answers 401 if the key was revoked during the wait', async () => {
    const own = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const { id } = await ask(deployment, own, await issueGrant(own), action('order/w7'));
    const revoked = await deployment.createKey('rp', own.rpDid);
    const asked = Array.from({ length: 33 }, () =>
      deployment.call('GET', `/access/v1/requests/${id}?wait=20`, { key: revoked }),
    );
    // A refused call is answered at once; from then on all others wait.
    expect((await Promise.race(asked)).status).toBe(429);
    await deployment.revokeKey(revoked);
    await reject(deployment, own, id);
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    // All look up their key again at the same moment. On a busy machine one may fail to, and gets 503.
    const refusals = statuses.filter((status) => status !== 503);
    expect(refusals).toContain(401);
    expect(refusals.filter((status) => status !== 401)).toEqual([429]);
    expect(statusOf(await read(deployment, own, id))).toBe('denied');
  });

  it('frees its place when the client disconnects', async () => {
    const own = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const { id } = await ask(deployment, own, await issueGrant(own), action('order/w6'));
    const { hostname, port } = new URL(deployment.process.baseUrl);
    const path = `/access/v1/requests/${id}?wait=20`;
    const sockets = Array.from({ length: 33 }, () => connect(Number(port), hostname));
    // A refused call is answered at once; from then on all others wait.
    const refused = Promise.race(sockets.map((socket) => once(socket, 'data')));
    for (const socket of sockets)
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: svc\r\nAuthorization: Bearer ${own.rpKey}\r\nX-Forwarded-For: ${freshAddress()}\r\n\r\n`,
      );
    expect(String((await refused)[0])).toContain('wait on this node');
    const isFull = async () => (await read(deployment, own, id, '?wait=1')).status === 429;
    const began = performance.now();
    for (const socket of sockets) socket.destroy();
    while ((await isFull()) && performance.now() - began < 8_000);
    expect(performance.now() - began).toBeLessThan(8_000);
    await reject(deployment, own, id);
  });

  it('is at most 20 seconds: 21 is refused with 400', async () => {
    const { id } = await ask(deployment, tenants, grant, action('order/w4'));
    expect((await read(deployment, tenants, id, '?wait=21')).status).toBe(400);
  });
});

it('GET /access/v1/requests/{request_id} answers 404 to another relying party', async () => {
  const other = await deployment.createTenants();
  const { id } = await ask(deployment, tenants, grant, action('order/w5'));
  expect((await read(deployment, other, id)).status).toBe(404);
});
