/** The sandbox as a whole: its limit, its keys, what public numbers omit of it, and deployments without it. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { startApiNodes } from '../world/api-node.ts';
import { contractCall, freshAddress } from '../world/contract-call.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { inOneWindow, times } from '../world/in-one-window.ts';
import { PRINCIPAL, RP, withSandbox } from '../world/sandbox.ts';

const { deployment, post, mint, verify } = withSandbox(withOwnDeployment({ SVC_DEMO: '1' }, 2));
const without = withOwnDeployment();

describe('the public numbers', () => {
  it('exclude the sandbox: its Principal and relying party are counted only as self_test, its decisions not at all', async () => {
    await deployment.createTenants();
    expect(await verify(await mint())).toMatchObject({ decision: 'ALLOW' });
    const { json } = await deployment.call('GET', '/metrics');
    const { rows } = await deployment.sql.query(
      `select (select count(*) from principals where did <> $1)::int as principals,
        (select count(*) from relying_parties where did <> $2)::int as rps,
        (select count(*) from receipts where relying_party <> $2)::int as receipts`,
      [PRINCIPAL, RP],
    );
    const [{ principals, rps, receipts }] = rows;
    expect(json).toMatchObject({
      principals: { verified: principals, managed: principals },
      relying_parties: rps,
      receipts_total: receipts,
      verifies: { verifies: receipts },
      self_test: { principals: 1, relying_parties: 1, organizations: 0 },
    });
  });
});

describe('the sandbox limit of an address', () => {
  it('is 60 calls a minute over all /demo routes together, separate from the limit of other public calls', async () => {
    const { answers, other } = await inOneWindow(async () => {
      const ip = freshAddress();
      const answers = await times(57, () => deployment.call('GET', '/demo/info', { ip }));
      for (const path of ['mint', 'verify', 'revoke', 'mint', 'mint'])
        answers.push(await post(`/demo/${path}`, {}, 0, ip));
      return { answers, other: await deployment.call('GET', '/healthz', { ip }) };
    });
    expect(answers.map(({ status }) => status)).toEqual([...Array(57).fill(200), 200, 400, 400, 429, 429]);
    expect(answers.map(({ headers }) => headers['ratelimit-limit'])).toEqual(Array(62).fill('60'));
    expect([other.status, other.headers['ratelimit-remaining']]).toEqual([200, '299']);
  });
});

describe('without SVC_DEMO', () => {
  it.each([
    ['GET', '/demo/info'],
    ['POST', '/demo/mint'],
    ['POST', '/demo/verify'],
    ['POST', '/demo/approval'],
    ['POST', '/demo/revoke'],
    ['GET', '/demo/mint'],
    ['DELETE', '/demo/info'],
    ['GET', '/playground'],
  ])('%s %s is 404 for every body', async (method, path) => {
    for (const rawBody of ['{', '{}', undefined]) {
      const options = method === 'POST' && rawBody !== undefined ? { rawBody } : {};
      const { status, json } = await without.call(method, path, options);
      expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('the sandbox Principal does not exist', async () => {
    expect((await without.call('GET', '/org/sandbox/did.json')).status).toBe(404);
    const { rows } = await without.sql.query('select count(*)::int as count from principals');
    expect(rows).toEqual([{ count: 0 }]);
  });
});

describe('keys of the sandbox', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-sandbox-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const keyStates = async () => {
    const { rows } = await deployment.sql.query<{ kid: string; state: string }>(
      'select kid, state from principal_keys where principal = $1 order by created_at',
      [PRINCIPAL],
    );
    return rows.map(({ kid, state }) => [kid.split('#')[1], state]);
  };
  /** Starts one more node, with its own key file. */
  const startWith = async (path: string) =>
    startApiNodes(1, deployment.databaseUrl, { SVC_DEMO: '1', SVC_SANDBOX_KEYS: path });
  const newJwk = (kid: string) => ({
    ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
    kid,
  });
  const writeKeys = (name: string, keys: readonly object[]) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify({ keys }));
    return path;
  };

  it('follow the key file: a new key is published, a removed key is retired, and Grants of the retired key stay valid', async () => {
    const [[first, state] = []] = await keyStates();
    expect(state).toBe('active');
    const minted = await mint();
    const renewed = writeKeys('renewed.json', [newJwk('key-1000000')]);
    const api = await startWith(renewed);
    try {
      expect(await keyStates()).toEqual([
        [first, 'retired'],
        ['key-1000000', 'active'],
      ]);
      expect(await verify(minted)).toMatchObject({ decision: 'ALLOW' });
      const { baseUrl } = api.processes[0] ?? { baseUrl: '' };
      const fresh = (await contractCall(baseUrl, 'POST', '/demo/mint', { body: {} })).json;
      expect(await verify(fresh)).toMatchObject({ decision: 'ALLOW' });
      const { json } = await deployment.call('GET', '/org/sandbox/did.json');
      expect(json.assertionMethod).toEqual([`${PRINCIPAL}#${first}`, `${PRINCIPAL}#key-1000000`]);
    } finally {
      await api.stop();
    }
  });

  it('a node does not start with a retired key, or with another key under a known kid', async () => {
    const own = startApiNodes(1, deployment.databaseUrl, { SVC_DEMO: '1' });
    await expect(own).rejects.toThrow(/#key-\d+ is retired/);
    const other = writeKeys('other.json', [newJwk('key-1000000')]);
    await expect(startWith(other)).rejects.toThrow(/key-1000000 was another key before/);
  });
});
