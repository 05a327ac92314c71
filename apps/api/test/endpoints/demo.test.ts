/** The sandbox over HTTP (interface §Endpoints, Sandbox): real Receipts for anybody, from either of two nodes. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseGrant, parseProof } from '@svc/protocol';
import { verifyReceipt } from '@svc/receipts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN, startApiProcesses } from '../world/api-process.ts';
import { type ContractAnswer, contractCall, freshAddress } from '../world/contract-call.ts';
import { withDeployment } from '../world/deployment.ts';

const PRINCIPAL = `did:web:${DOMAIN}:org:sandbox`;
const RP = `did:web:${DOMAIN}:rp:sandbox`;
const AUTHORITY = {
  action: 'commerce:purchase',
  constraints: { maxAmount: 50_000, currency: 'USD' },
  resources: ['sandbox/**'],
};

const deployment = withDeployment({ SVC_DEMO: '1' }, 2);
const without = withDeployment();

const post = (path: string, body: unknown, node = 0, ip = freshAddress()) =>
  contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', path, { body, ip });
const mint = async (body: object = {}, node = 0) => (await post('/demo/mint', body, node)).json;
const bodyOf = ({ grant, proof, action }: Readonly<Record<string, unknown>>) => ({ grant, proof, action });
const verify = async (minted: Readonly<Record<string, unknown>>, node = 0) =>
  (await post('/demo/verify', bodyOf(minted), node)).json;

let info: Readonly<Record<string, unknown>>;
beforeAll(async () => {
  info = (await deployment.call('GET', '/demo/info')).json;
});

describe('who plays', () => {
  it('/demo/info names the parties, what the Grants allow and the limits', () => {
    expect(info).toEqual({
      principal: PRINCIPAL,
      agent: expect.stringMatching(/^did:key:z6Mk/),
      rp: RP,
      authority: AUTHORITY,
      grant_lifetime_seconds: 3_600,
      request: { method: 'POST', url: 'https://shop.example/checkout' },
      amount_cap: 1_000_000_000,
      rate_limit_per_minute: 60,
    });
  });

  it('both nodes say the same: they share the Principal, its key and its Agent', async () => {
    const { json } = await contractCall(deployment.processes[1]?.baseUrl ?? '', 'GET', '/demo/info');
    expect(json).toEqual(info);
    const { rows } = await deployment.sql.query('select kid from principal_keys where principal = $1', [
      PRINCIPAL,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('the Principal is in the directory, its DID document is served, and its making is audited once', async () => {
    const { json } = await deployment.call('GET', `/principals/${PRINCIPAL}`, { key: ADMIN_TOKEN });
    expect(json).toMatchObject({ kind: 'managed', verification: { state: 'verified' } });
    expect((await deployment.call('GET', '/org/sandbox/did.json')).json.id).toBe(PRINCIPAL);
    const audit = await deployment.call('GET', '/audit?action=sandbox.create', { key: ADMIN_TOKEN });
    expect(audit.json.events).toMatchObject([
      { actor: { kind: 'system', did: null, key_id: null }, target: PRINCIPAL },
    ]);
  });

  it.each(['/principals', '/relying-parties'])('nobody else gets the slug at %s', async (path) => {
    const keys = [{ publicKeyMultibase: String(info.agent).slice('did:key:'.length) }];
    const body = { kind: 'managed', slug: 'sandbox', ...(path === '/principals' && { keys }) };
    const { status, json } = await deployment.call('POST', path, { key: ADMIN_TOKEN, body });
    expect([status, json.message]).toEqual([409, 'slug: sandbox is reserved.']);
  });
});

describe('/demo/mint', () => {
  it('gives a Grant of the Principal to the Agent for its relying party, and a Proof for the purchase', async () => {
    const minted = await mint();
    const { amount_cap: _, rate_limit_per_minute: __, ...parties } = info;
    expect(minted).toEqual({
      ...parties,
      grant: expect.any(String),
      proof: expect.any(String),
      action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 42_700, currency: 'USD' },
      grant_id: expect.stringMatching(/^urn:svc:grant:/),
      valid_until: expect.any(String),
    });
    const grant = parseGrant(String(minted.grant));
    const proof = parseProof(String(minted.proof));
    expect(grant).toMatchObject({
      ok: true,
      value: {
        issuer: PRINCIPAL,
        agent: info.agent,
        audience: [RP],
        id: minted.grant_id,
        capabilities: [AUTHORITY],
      },
    });
    expect(proof).toMatchObject({
      ok: true,
      value: { agent: info.agent, audience: RP, action: minted.action },
    });
    const remainingMs = Date.parse(String(minted.valid_until)) - Date.now();
    expect(remainingMs > 3_500_000 && remainingMs <= 3_600_000).toBe(true);
  });

  it.each([0, 50_000, 50_001, 1_000_000_000])('takes an amount of %d', async (amount) => {
    const minted = await mint({ amount });
    expect(minted.action).toMatchObject({ amount });
    const receipt = await verify(minted);
    expect(receipt.reason).toBe(amount > 50_000 ? 'AMOUNT_EXCEEDS_AUTHORITY' : null);
  });

  it.each([{ amount: -1 }, { amount: 1_000_000_001 }, { amount: '1' }, { amount: 1.5 }, { currency: 'EUR' }])(
    'refuses %j',
    async (body) => {
      expect((await post('/demo/mint', body)).status).toBe(400);
    },
  );
});

describe('/demo/verify', () => {
  it('gives a signed, stored Receipt of the sandbox’s relying party: ALLOW, then a replay, on either node', async () => {
    const minted = await mint({}, 0);
    const receipt = await verify(minted, 1);
    expect(receipt).toMatchObject({
      decision: 'ALLOW',
      relying_party: RP,
      agent: info.agent,
      authority: AUTHORITY,
    });
    const { json: didDocument } = await deployment.call('GET', '/.well-known/did.json');
    expect(verifyReceipt(receipt, didDocument).ok).toBe(true);
    const stored = await deployment.call('GET', `/decisions/${receipt.receipt_id}`, { key: ADMIN_TOKEN });
    expect(stored.json.receipt).toEqual(receipt);
    expect(await verify(minted, 0)).toMatchObject({ decision: 'DENY', reason: 'PROOF_REPLAYED' });
  });

  it('judges like /verify what is wrong inside, and refuses only a malformed envelope', async () => {
    const minted = await mint();
    expect(await verify({ ...minted, action: { amount: 1 } })).toMatchObject({ reason: 'ACTION_MALFORMED' });
    expect(await verify({ ...minted, grant: 'x' })).toMatchObject({ reason: 'GRANT_MALFORMED' });
    expect((await post('/demo/verify', { ...bodyOf(minted), more: 1 })).status).toBe(400);
    expect(await verify(minted)).toMatchObject({ decision: 'ALLOW' });
  });

  it('an ALLOW of the sandbox means nothing at another relying party', async () => {
    const tenants = await deployment.createTenants();
    const { json } = await deployment.call('POST', '/verify', {
      key: tenants.rpKey,
      body: bodyOf(await mint()),
    });
    expect(json).toMatchObject({ decision: 'DENY', reason: 'AUDIENCE_MISMATCH' });
  });
});

describe('the public numbers', () => {
  it('count none of the sandbox’s own: its parties stand beside the customers, its decisions in no total', async () => {
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

describe('/demo/revoke', () => {
  it('revokes a minted Grant for both nodes, and again without harm', async () => {
    const minted = await mint({}, 0);
    const revoked = await post('/demo/revoke', { grant_id: minted.grant_id }, 1);
    expect(revoked.json).toEqual({
      grant_id: minted.grant_id,
      revoked: true,
      revoked_at: expect.any(String),
    });
    expect(await verify(minted, 0)).toMatchObject({ decision: 'DENY', reason: 'AUTHORITY_REVOKED' });
    expect((await post('/demo/revoke', { grant_id: minted.grant_id }, 0)).json).toEqual(revoked.json);
  });

  it('touches nobody else’s Grants', async () => {
    const tenants = await deployment.createTenants();
    const { grantId } = await tenants.principal.grants.issue({
      agent: tenants.agent.did,
      capabilities: [AUTHORITY as never],
    });
    expect((await post('/demo/revoke', { grant_id: grantId })).status).toBe(404);
    expect((await post('/demo/revoke', { grant_id: 'x' })).status).toBe(400);
  });
});

describe('the limit of an address', () => {
  it('is 60 calls a minute over all four, its own and not that of other public calls', async () => {
    for (;;) {
      const minute = Math.floor(Date.now() / 60_000);
      const ip = freshAddress();
      const answers: ContractAnswer[] = [];
      for (let i = 0; i < 57; i++) answers.push(await deployment.call('GET', '/demo/info', { ip }));
      for (const path of ['mint', 'verify', 'revoke', 'mint', 'mint'])
        answers.push(await post(`/demo/${path}`, {}, 0, ip));
      const other = await deployment.call('GET', '/healthz', { ip });
      if (minute !== Math.floor(Date.now() / 60_000)) continue;
      expect(answers.map(({ status }) => status)).toEqual([...Array(57).fill(200), 200, 400, 400, 429, 429]);
      expect(answers.map(({ headers }) => headers['ratelimit-limit'])).toEqual(Array(62).fill('60'));
      expect([other.status, other.headers['ratelimit-remaining']]).toEqual([200, '299']);
      return;
    }
  });
});

describe('without SVC_DEMO', () => {
  it.each([
    ['GET', '/demo/info'],
    ['POST', '/demo/mint'],
    ['POST', '/demo/verify'],
    ['POST', '/demo/revoke'],
    ['GET', '/demo/mint'],
    ['DELETE', '/demo/info'],
    ['GET', '/playground'],
  ])('%s %s is 404, whatever is sent', async (method, path) => {
    for (const rawBody of ['{', '{}', undefined]) {
      const options = method === 'POST' && rawBody !== undefined ? { rawBody } : {};
      const { status, json } = await without.call(method, path, options);
      expect([status, json.error]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('there is no sandbox Principal', async () => {
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
  /** Starts one node more, with its own key file. */
  const startWith = async (path: string) =>
    startApiProcesses(1, deployment.databaseUrl, { SVC_DEMO: '1', SVC_SANDBOX_KEYS: path });
  const newJwk = (kid: string) => ({
    ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
    kid,
  });
  const writeKeys = (name: string, keys: readonly object[]) => {
    const path = join(folder, name);
    writeFileSync(path, JSON.stringify({ keys }));
    return path;
  };

  it('rotate with the file: what is new is published, what has left is retired, and its Grants stay good', async () => {
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

  it('a node whose key is retired, or is not the one that its kid names, does not start', async () => {
    const own = startApiProcesses(1, deployment.databaseUrl, { SVC_DEMO: '1' });
    await expect(own).rejects.toThrow(/#key-\d+ is retired/);
    const other = writeKeys('other.json', [newJwk('key-1000000')]);
    await expect(startWith(other)).rejects.toThrow(/key-1000000 was another key before/);
  });
});
