/**
 * No secret that passes through the service stays in it. After a whole session, with errors and a failing database,
 * neither the log nor any column of the database contains one, and only the answer that issued a key contains it. API
 * keys are stored as their SHA-256.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { isDeep, sampled } from '@svc/testkit/sampled';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractFetch } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment, withProcesses } from '../world/deployment.ts';
import { productionEnv } from '../world/production.ts';
import { issueGrant, type Tenants, verifyBody } from '../world/tenants.ts';

const PROVISION_KEY = 'provision-key-abcdefghij-0123456789';
const env = { ...productionEnv(), SVC_PROVISION_KEYS: PROVISION_KEY, SVC_SELF_SERVE: '1' };
/** A program as in production, with its durable server; in a sample a node within this process. */
const deep = isDeep ? withProcesses(env) : null;
const deployment = deep ?? withOwnDeployment({ ...env, SVC_ENV: 'development' });

interface Secrets {
  /** Live API keys. */
  readonly apiKeys: string[];
  /** Those of them that were issued in an answer. */
  readonly issued: string[];
  /** Other secrets that must not be stored: tokens, private keys, Grants, Proofs. */
  readonly others: string[];
}

/** Every answer of the session, with its headers. */
const answers: string[] = [];

const call: typeof deployment.call = async (...request) => {
  const answer = await deployment.call(...request);
  answers.push(answer.text, JSON.stringify(answer.headers));
  return answer;
};

interface Issued {
  readonly did: string;
  readonly key: string;
  readonly keyId: string;
}

/** A call that issues a key. */
const issue = async (
  { apiKeys, issued }: Secrets,
  path: string,
  body: object,
  by = ADMIN_TOKEN,
): Promise<Issued> => {
  const { status, text, json } = await call('POST', path, { key: by, body });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}: ${text}`);
  const key = String(json.api_key);
  apiKeys.push(key);
  issued.push(key);
  return { did: String(json.did), key, keyId: String(json.api_key_id ?? json.key_id) };
};

/** A key of every class: each is used, listed by every caller that may, revoked, and listed again. */
const manageKeys = async (secrets: Secrets, { principalDid, principalKey, rpDid, rpKey }: Tenants) => {
  const org = await call('POST', '/orgs', {
    key: ADMIN_TOKEN,
    body: { slug: randomSlug('org'), name: 'Org' },
  });
  const place = `/orgs/${org.json.org_id}`;
  for (const did of [principalDid, rpDid])
    await call('POST', `${place}/members`, { key: ADMIN_TOKEN, body: { did } });
  const admin = await issue(secrets, `${place}/api-keys`, { role: 'admin', label: 'ops' });
  const keys: readonly (readonly [place: string, key: Issued])[] = [
    [`${place}/api-keys`, await issue(secrets, `${place}/api-keys`, { role: 'read' }, admin.key)],
    ['/api-keys', await issue(secrets, '/api-keys', { label: 'own' }, principalKey)],
    ['/api-keys', await issue(secrets, '/api-keys', {}, rpKey)],
    ['/api-keys', await issue(secrets, `/api-keys?subject=${rpDid}`, {}, admin.key)],
    ['/observer-keys', await issue(secrets, '/observer-keys', {})],
  ];
  const readEverything = async () => {
    for (const key of [ADMIN_TOKEN, admin.key, principalKey, rpKey, ...keys.map(([, one]) => one.key)])
      for (const path of [
        ...['/me', '/api-keys', `/api-keys?subject=${rpDid}`, `/api-keys?subject=${principalDid}`],
        ...[`${place}/api-keys`, place, '/observer-keys', '/audit?limit=200', '/grants'],
        ...[`/principals/${principalDid}`, '/principals', `/relying-parties/${rpDid}`],
      ])
        await call('GET', path, { key });
  };
  await readEverything();
  for (const [path, { keyId }] of keys)
    for (let times = 0; times < 2; times++)
      expect((await call('POST', `${path}/${keyId}/revoke`, { key: ADMIN_TOKEN })).status).toBe(200);
  await readEverything();
};

const serviceKeys = (): string[] =>
  ['SVC_RECEIPT_KEYS', 'SVC_STATUS_KEYS', 'SVC_SANDBOX_KEYS'].flatMap((name) => {
    const path = (env as Record<string, string>)[name] ?? '';
    return (JSON.parse(readFileSync(path, 'utf8')) as { keys: { d: string }[] }).keys.map(({ d }) => d);
  });

const onboard = async (secrets: Secrets): Promise<Tenants> => {
  const [key, agentKey] = [await generatePrincipalKey(), await generateAgentKey()];
  const principal = await issue(secrets, '/principals', {
    kind: 'managed',
    slug: randomSlug('p'),
    keys: [key.registration],
  });
  const rp = await issue(secrets, '/relying-parties', { kind: 'managed', slug: randomSlug('r') });
  secrets.others.push(key.privateJwk.d, agentKey.privateJwk.d);
  return {
    principalDid: principal.did,
    principalKey: principal.key,
    principal: createPrincipalClient({
      baseUrl: deployment.process.baseUrl,
      apiKey: principal.key,
      signer: signerFromJwk(key.privateJwk, `${principal.did}#key-1`),
      fetch: contractFetch,
    }),
    agent: agentFromJwk(agentKey.privateJwk),
    rpDid: rp.did,
    rpKey: rp.key,
  };
};

/** A tenant that signs up by itself, with its starters, requested in every way. */
const signUp = async ({ apiKeys, issued, others }: Secrets) => {
  const request = { slug: randomSlug('t'), name: 'A tenant', admin_email: 'admin@tenant.example' };
  const { status, json } = await call('POST', '/orgs/self-serve', { key: PROVISION_KEY, body: request });
  expect(status).toBe(201);
  const [orgKey, rpKey] = [String(json.org_admin_key), String(json.rp_verify_key)];
  apiKeys.push(orgKey, rpKey);
  issued.push(orgKey, rpKey);
  const body = { rp_did: (json.relying_party as { did: string }).did };
  const { json: second } = await call('POST', '/orgs/self-serve/starter', { key: PROVISION_KEY, body });
  for (const { grant, proof, action } of [json.starter, second] as Record<string, string>[]) {
    others.push(String(grant), String(proof));
    const { iss } = JSON.parse(Buffer.from(String(proof).split('.')[1] ?? '', 'base64url').toString());
    const asked = {
      subject: { type: 'agent', id: iss, properties: { grant, proof } },
      action: { name: 'commerce:purchase', properties: { amount: 1_000, currency: 'USD' } },
      resource: { type: 'order', id: 'sandbox/order-1' },
    };
    const batch = { evaluations: [asked, { ...asked, subject: proof }, grant] };
    for (const path of ['/access/v1/evaluation', '/access/v1/evaluations'])
      await call('POST', path, { key: rpKey, body: path.endsWith('s') ? batch : asked });
    await call('POST', '/verify', { key: rpKey, body: { grant, proof, action } });
  }
  await call('POST', '/orgs/self-serve/first-receipt', { key: PROVISION_KEY, body });
  await call('POST', '/orgs/self-serve', { key: PROVISION_KEY, body: request });
};

/**
 * Sends secrets in every place of a request where they do not belong. A sample takes a fifth of the places for each
 * secret, and other places for the next.
 */
const misplace = async ({ apiKeys, others }: Secrets) => {
  const orgId = await deployment.createOrg();
  for (const [i, secret] of [...apiKeys, ...others, ADMIN_TOKEN, PROVISION_KEY].entries()) {
    const key = await deployment.createKey('org:admin', orgId);
    const text = encodeURIComponent(secret);
    const wrong: readonly Readonly<Parameters<typeof call>>[] = [
      ...[
        ...[`/${text}`, `/grants?cursor=${text}`, `/me?token=${text}`, `/relying-parties/${text}`],
        ...[`/decisions/${text}`, `/evidence/${text}`, `/org/${text}/did.json`],
      ].map((path) => ['GET', path, { key }] as const),
      ...[
        { [secret]: 1 },
        { kind: 'managed', slug: secret },
        { kind: 'managed', slug: 'a', keys: [{ d: secret }] },
        secret,
      ].map((body) => ['POST', '/principals', { key, body }] as const),
      ...[`{"grant":"${secret}`, `{"grant":"${secret}","proof":"${secret}","action":{"d":"${secret}"}}`].map(
        (rawBody) => ['POST', '/verify', { key: apiKeys[1] ?? '', rawBody }] as const,
      ),
      ['GET', '/me', { headers: { authorization: `Basic ${secret}` } }],
      ['GET', '/me', { key: `${secret}x` }],
    ];
    const sent = sampled({ quick: wrong.filter((_, at) => (at + i) % 5 === 0), deep: wrong });
    for (const request of sent) await call(...request);
  }
};

/** Every kind of answer to a request with a Grant and a Proof: ALLOW, DENY, replay, 409, 401, a failing database. */
const useGrants = async (tenants: Tenants, { others }: Secrets) => {
  const grant = await issueGrant(tenants);
  const fresh = async () => {
    const body = await verifyBody(tenants, grant);
    others.push(body.proof);
    return body;
  };
  others.push(grant.grant);
  const send = (body: unknown, headers: Record<string, string> = {}, key = tenants.rpKey) =>
    call('POST', '/verify', { key, body, headers });
  const statuses = [];
  const first = await fresh();
  for (const body of [first, first, { ...(await fresh()), action: {} }])
    statuses.push((await send(body)).status);
  const headers = { 'idempotency-key': 'one' };
  for (const body of [await fresh(), await fresh()]) statuses.push((await send(body, headers)).status);
  statuses.push((await send(await fresh(), {}, tenants.principalKey)).status);
  await deployment.sql.query('alter table spent_proofs rename to spent_proofs_elsewhere');
  statuses.push((await send(await fresh())).status);
  await deployment.sql.query('alter table spent_proofs_elsewhere rename to spent_proofs');
  await tenants.principal.grants.revoke(grant.grantId);
  statuses.push((await send(await fresh())).status);
  expect(statuses).toEqual([200, 200, 200, 200, 409, 401, 503, 200]);
};

/** Causes a 500, whose cause is logged: the live key of a subject that does not exist. */
const failInside = async ({ apiKeys }: Secrets) => {
  const key = await deployment.createKey('principal', 'did:web:nobody.example');
  apiKeys.push(key);
  expect((await call('GET', '/me', { key })).status).toBe(500);
  const body = { agent: (await generateAgentKey()).did };
  expect((await call('POST', '/grants', { key, body })).status).toBe(500);
};

/** Every row of every table as text; bytes as hex. */
const dump = async (): Promise<string> => {
  const tables = await deployment.sql.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
  );
  let text = '';
  for (const { name } of tables.rows) {
    const { rows } = await deployment.sql.query<{ row: string }>(`select t::text as row from ${name} t`);
    text += rows.map(({ row }) => row).join('\n');
  }
  return text;
};

it('after a whole session no secret is in the log or the database, and each API key is only in the answer that issued it', async () => {
  const secrets: Secrets = { apiKeys: [], issued: [], others: serviceKeys() };
  const tenants = await onboard(secrets);
  await useGrants(tenants, secrets);
  await manageKeys(secrets, tenants);
  await signUp(secrets);
  await failInside(secrets);
  await misplace(secrets);

  const stored = await dump();
  await deep?.process.stop();
  const logged = deployment.process.log.join('\n');
  // Both texts are complete: the log contains the failures, the database the hashes of the keys.
  expect(logged).toMatch(/"level":50,.*Internal error/);
  expect(logged).toContain('nobody.example');
  for (const key of secrets.apiKeys) expect(stored).toContain(createHash('sha256').update(key).digest('hex'));

  const shown = (key: string) => answers.filter((answer) => answer.includes(key)).length;
  for (const key of secrets.apiKeys)
    expect([key.slice(0, 12), shown(key)]).toEqual([key.slice(0, 12), secrets.issued.includes(key) ? 1 : 0]);

  const found = [...secrets.apiKeys, ...secrets.others, ADMIN_TOKEN, PROVISION_KEY].filter((secret) => {
    // No part of a JWS may be stored either: its signature makes it usable.
    const parts = [secret, ...secret.split('.').slice(2)];
    return parts.some((part) =>
      [part, Buffer.from(part).toString('hex')].some(
        (form) => stored.includes(form) || logged.includes(form),
      ),
    );
  });
  expect(found).toEqual([]);
});
