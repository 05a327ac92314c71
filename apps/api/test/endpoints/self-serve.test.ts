/** Self-serve over HTTP (interface §Self-serve and sandbox records, protocol §13). Who may call: access matrix. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { parseGrant, parseProof } from '@svc/protocol';
import { verifyReceipt } from '@svc/receipts';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-process.ts';
import { type ContractAnswer, contractCall, freshAddress } from '../world/contract-call.ts';
import { type Deployment, randomSlug, withDeployment } from '../world/deployment.ts';

const PROVISION_KEY = 'provision-key-0123456789-0123456789';
const OTHER_PROVISION_KEY = 'provision-key-abcdefghij-0123456789';
const ENV = { SVC_PROVISION_KEYS: `${PROVISION_KEY},${OTHER_PROVISION_KEY}`, SVC_SELF_SERVE: '1' };
const UNLIMITED = { SVC_SELF_SERVE_PER_MINUTE: '100000', SVC_SELF_SERVE_PER_DAY: '1000000' };

const deployment = withDeployment({ ...ENV, ...UNLIMITED, SVC_ENTITLEMENTS: 'enforce' }, 2);
const limited = withDeployment({ ...ENV, SVC_SELF_SERVE_PER_DAY: '40' }, 2);
const without = withDeployment({ SVC_PROVISION_KEYS: PROVISION_KEY });

interface SignUp {
  readonly slug?: unknown;
  readonly name?: unknown;
  readonly admin_email?: unknown;
  readonly plan?: unknown;
}

const requestOf = (change: SignUp = {}) => ({
  slug: randomSlug('t'),
  name: 'A tenant',
  admin_email: 'admin@tenant.example',
  ...change,
});

interface Sent {
  readonly on?: Deployment;
  readonly node?: number;
  readonly key?: string;
  readonly customer?: string;
}

/** Each sign-up is of a customer of its own unless named. */
const send = (
  path: string,
  body: unknown,
  { on = deployment, node = 0, key = PROVISION_KEY, customer }: Sent = {},
) =>
  contractCall(on.processes[node]?.baseUrl ?? '', 'POST', `/orgs/self-serve${path}`, {
    key,
    body,
    headers: { 'x-svc-client-ip': customer ?? freshAddress() },
  });

interface Starter extends Record<string, unknown> {
  readonly grant: string;
  readonly proof: string;
  readonly verify_curl: string;
}

interface Bundle {
  readonly org: Readonly<Record<string, string>>;
  readonly org_admin_key: string;
  readonly relying_party: { readonly did: string };
  readonly rp_verify_key: string;
  readonly starter: Starter;
}

const bundleOf = ({ status, text, json }: ContractAnswer): Bundle => {
  if (status !== 201) throw new Error(`self-serve answered ${status}: ${text}`);
  return json as unknown as Bundle;
};
const signUp = async (change: SignUp = {}, sent: Sent = {}) =>
  bundleOf(await send('', requestOf(change), sent));

const verify = async ({ grant, proof, action }: Starter, key: string, node = 0) =>
  (
    await contractCall(deployment.processes[node]?.baseUrl ?? '', 'POST', '/verify', {
      key,
      body: { grant, proof, action },
    })
  ).json;

describe('POST /orgs/self-serve', () => {
  it('makes an org, its key, a relying party, its key and a starter', async () => {
    const slug = randomSlug('t');
    const bundle = await signUp({ slug, name: 'Köln 🛒' });
    const did = `did:web:${DOMAIN}:rp:${slug}`;
    expect(bundle).toEqual({
      org: {
        org_id: expect.stringMatching(/^org_/),
        slug,
        name: 'Köln 🛒',
        created_at: expect.any(String),
      },
      org_admin_key: expect.stringMatching(/^dk_org_admin_/),
      relying_party: { did, name: 'Köln 🛒', profile: 'svc-base-v1', proof_window_seconds: 300 },
      rp_verify_key: expect.stringMatching(/^dk_rp_/),
      starter: {
        grant: expect.any(String),
        proof: expect.any(String),
        action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 1_000, currency: 'USD' },
        grant_id: expect.stringMatching(/^urn:svc:grant:/),
        expires_at: expect.any(String),
        verify_url: `http://${DOMAIN}/verify`,
        verify_curl: expect.stringContaining('<rp_verify_key>'),
      },
    });
    const byOrg = await deployment.call('GET', '/me', { key: bundle.org_admin_key });
    expect(byOrg.json).toMatchObject({ role: 'org:admin', subject: bundle.org.org_id, members: [{ did }] });
    const byRp = await deployment.call('GET', '/me', { key: bundle.rp_verify_key });
    expect(byRp.json).toMatchObject({ role: 'rp', subject: did, org_id: bundle.org.org_id });
  });

  it('the starter is a Grant of the sandbox Principal for this relying party, its Agent of this once', async () => {
    const { starter, relying_party: relyingParty } = await signUp();
    const grant = parseGrant(starter.grant);
    const proof = parseProof(starter.proof);
    if (!grant.ok || !proof.ok) throw new Error('malformed');
    expect(grant.value).toMatchObject({
      id: starter.grant_id,
      issuer: `did:web:${DOMAIN}:org:sandbox`,
      audience: [relyingParty.did],
      capabilities: [
        {
          action: 'commerce:purchase',
          constraints: { maxAmount: 5_000, currency: 'USD' },
          resources: ['sandbox/**'],
        },
      ],
    });
    expect(grant.value.validUntilMs - grant.value.validFromMs).toBe(3_600_000);
    expect(proof.value).toMatchObject({ audience: relyingParty.did, agent: grant.value.agent });
    expect(proof.value.action).toEqual(starter.action);
    expect(Date.parse(String(starter.expires_at))).toBe((proof.value.iatSeconds + 300) * 1000);
    const other = parseGrant((await signUp()).starter.grant);
    expect(other.ok && other.value.agent).not.toBe(grant.value.agent);
  });

  it('the starter is an ALLOW for the tenant, once, and a denial at any other relying party', async () => {
    const tenant = await signUp({}, { node: 1 });
    const neighbour = await signUp();
    expect(await verify(tenant.starter, neighbour.rp_verify_key)).toMatchObject({
      reason: 'AUDIENCE_MISMATCH',
    });
    const receipt = await verify(tenant.starter, tenant.rp_verify_key);
    expect(receipt).toMatchObject({ decision: 'ALLOW', relying_party: tenant.relying_party.did });
    const { json: didDocument } = await deployment.call('GET', '/.well-known/did.json');
    expect(verifyReceipt(receipt, didDocument).ok).toBe(true);
    expect(await verify(tenant.starter, tenant.rp_verify_key)).toMatchObject({ reason: 'PROOF_REPLAYED' });
  });

  const hasCurl = existsSync('/usr/bin/curl') && existsSync('/bin/sh');
  if (!hasCurl) console.warn('SKIPPED: verify_curl in a shell, because there is no curl');
  it.skipIf(!hasCurl)('verify_curl is an ALLOW when it is pasted with the key in its place', async () => {
    const { starter, rp_verify_key: key } = await signUp();
    const { baseUrl } = deployment.process;
    const command = starter.verify_curl
      .replace('<rp_verify_key>', key)
      .replace(`http://${DOMAIN}/verify`, `${baseUrl}/verify`);
    const { stdout } = await promisify(execFile)('/bin/sh', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({ decision: 'ALLOW' });
  });

  it('needs no plan: sandbox checks of an org without one are allowed and not counted, others are refused', async () => {
    const tenant = await signUp();
    const { org } = tenant;
    const entitlement = async () =>
      (await deployment.call('GET', `/orgs/${org.org_id}/entitlement`, { key: PROVISION_KEY })).json;
    expect(await entitlement()).toMatchObject({ enforced: true, effective: 'blocked' });
    expect(await verify(tenant.starter, tenant.rp_verify_key)).toMatchObject({ decision: 'ALLOW' });
    const first = await send('/first-receipt', { rp_did: tenant.relying_party.did });
    expect(first.json).toMatchObject({ decision: 'ALLOW' });
    const { rows } = await deployment.sql.query(
      'select count(*)::int as n from receipts where relying_party = $1 and production_check',
      [tenant.relying_party.did],
    );
    expect(rows).toEqual([{ n: 0 }]);
    const refused = await deployment.call('POST', '/verify', {
      key: tenant.rp_verify_key,
      body: { grant: '', proof: '', action: {} },
    });
    expect(refused.status).toBe(402);
  });

  it('is audited as done by the system, the tenant sees nothing of others, and nobody sees the email', async () => {
    const email = `${randomSlug('private')}@tenant.example`;
    const tenant = await signUp({ admin_email: email });
    const audit = async (query: string) =>
      (await deployment.call('GET', `/audit?${query}`, { key: ADMIN_TOKEN })).text;
    const trail = await audit(`target=${tenant.relying_party.did}`);
    expect(JSON.parse(trail).events).toMatchObject([
      {
        action: 'relying_party.create',
        actor: { kind: 'system', did: null },
        details: { kind: 'managed', org_id: tenant.org.org_id },
      },
    ]);
    const { rows } = await deployment.sql.query(
      'select admin_email from self_serve_tenants where org_id = $1',
      [tenant.org.org_id],
    );
    expect(rows).toEqual([{ admin_email: email }]);
    const texts = [JSON.stringify(tenant), await audit('limit=200'), deployment.process.log.join('\n')];
    for (const path of [`/orgs/${tenant.org.org_id}`, '/me', '/audit'])
      texts.push((await deployment.call('GET', path, { key: tenant.org_admin_key })).text);
    expect(texts.filter((text) => text.includes(email))).toEqual([]);
  });

  it.each([
    ['no slug', { slug: undefined }],
    ['an empty slug', { slug: '' }],
    ['a slug in capitals', { slug: 'Acme' }],
    ['a slug that ends with a hyphen', { slug: 'acme-' }],
    ['a slug of 64 characters', { slug: 'a'.repeat(64) }],
    ['an empty name', { name: '' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['no email', { admin_email: undefined }],
    ['an email without a host', { admin_email: 'admin@' }],
    ['an email without a dot', { admin_email: 'admin@localhost' }],
    ['two emails', { admin_email: 'a@b.example,c@d.example' }],
    ['an email with a line break', { admin_email: 'a@b.example\n' }],
    ['an email of 201 characters', { admin_email: `${'a'.repeat(189)}@tenant.test` }],
    ['a member too many', { plan: 'free' }],
  ])('%s: 400', async (_, change) => {
    const { status, json } = await send('', requestOf(change));
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(`body.${Object.keys(change)[0]}`);
  });

  it.each([
    { slug: `a${'-'.repeat(61)}a` },
    { name: 'x'.repeat(200) },
    { admin_email: `${'a'.repeat(188)}@tenant.test` },
    { admin_email: 'müller+svc@köln.example' },
  ])('takes %j', async (change) => {
    expect((await send('', requestOf(change))).status).toBe(201);
  });

  it.each(['sandbox', 'admin', 'api', 'svc', 'www'])('the slug %s is reserved: 409', async (slug) => {
    expect((await send('', requestOf({ slug }))).status).toBe(409);
  });

  it('a slug that an org or a relying party has is taken: 409, and nothing is made', async () => {
    const [ofOrg, ofRp] = [randomSlug('t'), randomSlug('t')];
    await deployment.call('POST', '/orgs', { key: ADMIN_TOKEN, body: { slug: ofOrg, name: 'An org' } });
    await deployment.register('/relying-parties', { kind: 'managed', slug: ofRp });
    for (const slug of [ofOrg, ofRp]) {
      const { status, json } = await send('', requestOf({ slug }));
      expect([status, json.message]).toEqual([409, `slug: ${slug} is taken.`]);
    }
    const { rows } = await deployment.sql.query(
      `select (select count(*) from orgs where slug = $1)::int as orgs,
        (select count(*) from relying_parties where slug = $2)::int as rps`,
      [ofRp, ofOrg],
    );
    expect(rows).toEqual([{ orgs: 0, rps: 0 }]);
  });

  it('of many at once for one slug, on both nodes, one is made and all others hear 409', async () => {
    const slug = randomSlug('t');
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => send('', requestOf({ slug }), { node: i % 2 })),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([201, ...Array(15).fill(409)]);
  });
});

describe('POST /orgs/self-serve/starter', () => {
  it('gives a fresh starter each time, which the other node allows', async () => {
    const tenant = await signUp();
    const body = { rp_did: tenant.relying_party.did };
    const starters = [
      (await send('/starter', body)).json as Starter,
      (await send('/starter', body, { node: 1 })).json as Starter,
    ];
    expect(Object.keys(starters[0] ?? {})).toEqual(Object.keys(tenant.starter));
    expect(new Set(starters.map(({ grant_id: id }) => id)).size).toBe(2);
    for (const [i, starter] of starters.entries())
      expect(await verify(starter, tenant.rp_verify_key, 1 - i)).toMatchObject({ decision: 'ALLOW' });
  });

  it('expires_at follows the window that the relying party has now', async () => {
    const tenant = await signUp();
    const { did } = tenant.relying_party;
    await deployment.call('PATCH', `/relying-parties/${did}`, {
      key: tenant.org_admin_key,
      body: { proof_window_seconds: 10 },
    });
    const starter = (await send('/starter', { rp_did: did })).json as Starter;
    const proof = parseProof(starter.proof);
    expect(Date.parse(String(starter.expires_at))).toBe(
      ((proof.ok ? proof.value.iatSeconds : 0) + 10) * 1000,
    );
  });
});

describe('POST /orgs/self-serve/first-receipt', () => {
  it('is a real decision in the tenant’s ledger, under its key', async () => {
    const tenant = await signUp();
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did }, { node: 1 });
    expect([status, json]).toMatchObject([
      200,
      { decision: 'ALLOW', relying_party: tenant.relying_party.did },
    ]);
    const { json: me } = await deployment.call('GET', '/me', { key: tenant.rp_verify_key });
    const { json: list } = await deployment.call('GET', '/decisions', { key: tenant.rp_verify_key });
    expect(list.decisions).toMatchObject([
      { receipt_id: json.receipt_id, decision: 'ALLOW', key_id: me.key_id, amount: 1_000 },
    ]);
  });

  it('a tenant without a live key is a 400 that says so', async () => {
    const tenant = await signUp();
    await deployment.revokeKey(tenant.rp_verify_key);
    const { status, json } = await send('/first-receipt', { rp_did: tenant.relying_party.did });
    expect([status, json.message]).toEqual([400, expect.stringContaining('no live API key')]);
  });
});

describe.each(['/starter', '/first-receipt'])('%s: which relying party', (path) => {
  it.each(['did:web:shop.example', `did:web:${DOMAIN}:org:acme`, `did:web:${DOMAIN}:rp:Acme`, 'acme', ''])(
    '%j is no managed relying party of this service: 400',
    async (did) => {
      expect((await send(path, { rp_did: did })).status).toBe(400);
    },
  );

  it('one that does not exist, or that self-serve did not make, is a 404, also beside one that it made', async () => {
    const tenant = await signUp();
    const byOperator = await deployment.register('/relying-parties', {
      kind: 'managed',
      slug: randomSlug('r'),
    });
    const second = { kind: 'managed', slug: randomSlug('r') };
    const byTenant = await deployment.register('/relying-parties', second, tenant.org_admin_key);
    for (const did of [
      byOperator.did,
      byTenant.did,
      `did:web:${DOMAIN}:rp:nobody`,
      `did:web:${DOMAIN}:rp:sandbox`,
    ])
      expect([did, (await send(path, { rp_did: did })).status]).toEqual([did, 404]);
  });
});

describe('limits', () => {
  /** Runs a burst inside one window of the clock. */
  const inOneHour = async (burst: () => Promise<ContractAnswer[]>) => {
    for (;;) {
      const hour = Math.floor(Date.now() / 3_600_000);
      const answers = await burst();
      if (hour === Math.floor(Date.now() / 3_600_000)) return answers;
    }
  };
  const times = async (count: number, call: () => Promise<ContractAnswer>) => {
    const answers = [];
    for (let i = 0; i < count; i++) answers.push(await call());
    return answers;
  };
  const seenOf = (answers: readonly ContractAnswer[]) =>
    answers.map(({ status, headers }) => [
      status,
      headers['ratelimit-limit'],
      headers['ratelimit-remaining'],
    ]);

  it('5 sign-ups an hour for each customer address, /64 for IPv6, failed ones included', async () => {
    const answers = await inOneHour(async () => {
      const prefix = `2001:db8:${Math.floor(Math.random() * 65_535).toString(16)}:1`;
      let host = 0;
      const attempt = (change: SignUp) => send('', requestOf(change), { customer: `${prefix}::${++host}` });
      const all = await times(3, () => attempt({}));
      return [...all, ...(await times(4, () => attempt({ slug: 'sandbox' })))];
    });
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 409, 409, 429, 429]);
    const last = answers.at(-1);
    expect([last?.headers['ratelimit-limit'], last?.headers['ratelimit-remaining']]).toEqual(['5', '0']);
    expect(Number(last?.headers['retry-after'])).toBeLessThanOrEqual(3_600);
    expect(last?.json.message).toContain('5 an hour');
    expect((await send('', requestOf())).status).toBe(201);
  });

  it('30 starters and first Receipts an hour for each relying party', async () => {
    const answers = await inOneHour(async () => {
      const tenant = await signUp();
      const body = { rp_did: tenant.relying_party.did };
      const all = await times(29, () => send('/starter', body));
      return [...all, ...(await times(2, () => send('/first-receipt', body))), await send('/starter', body)];
    });
    expect(seenOf(answers)).toEqual([
      ...Array.from({ length: 30 }, (_, i) => [200, '30', String(29 - i)]),
      [429, '30', '0'],
      [429, '30', '0'],
    ]);
  });

  it('60 calls a minute for each provision key, those of the overlap set apart', async () => {
    for (;;) {
      const minute = Math.floor(Date.now() / 60_000);
      const call = (key: string) => send('/starter', { rp_did: 'x' }, { on: limited, node: 1, key });
      const answers = await times(62, () => call(PROVISION_KEY));
      const other = await call(OTHER_PROVISION_KEY);
      if (minute !== Math.floor(Date.now() / 60_000)) continue;
      expect(answers.map(({ status }) => status)).toEqual([...Array(60).fill(400), 429, 429]);
      expect(seenOf([other])).toEqual([[400, '60', '59']]);
      return;
    }
  });

  it('new orgs of a day are counted on all nodes together: of more at once exactly the ceiling is made', async () => {
    const before = async () => {
      const { rows } = await limited.sql.query<{ day: string; n: number }>(
        'select day::text, sign_ups as n from self_serve_days order by day desc limit 1',
      );
      return rows[0]?.n ?? 0;
    };
    expect(await before()).toBe(0);
    const slug = randomSlug('taken');
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        // Those that fail do not count.
        send('', requestOf(i < 5 ? { slug } : {}), {
          on: limited,
          node: i % 2,
          // The first one is used up on the second node.
          key: i % 2 === 0 ? PROVISION_KEY : OTHER_PROVISION_KEY,
        }),
      ),
    );
    const count = (status: number) => answers.filter((answer) => answer.status === status).length;
    const { rows } = await limited.sql.query('select count(*)::int as n from orgs');
    // The turn of the day gives a second ceiling.
    if (rows[0]?.n > 40) return;
    expect([count(201), count(201) + count(409) + count(429)]).toEqual([40, 50]);
    expect([rows[0]?.n, await before()]).toEqual([40, 40]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json.message).toContain('today');
    expect(Number(refused?.headers['retry-after'])).toBeLessThanOrEqual(86_400);
  });
});

describe('without SVC_SELF_SERVE', () => {
  it.each(['', '/starter', '/first-receipt'])(
    '%s is 404 for the console, whatever is sent, 401 for others',
    async (path) => {
      for (const rawBody of ['{', '{}', JSON.stringify(requestOf())]) {
        const options = { key: PROVISION_KEY, rawBody };
        expect((await without.call('POST', `/orgs/self-serve${path}`, options)).status).toBe(404);
      }
      expect((await without.call('POST', `/orgs/self-serve${path}`, { body: {} })).status).toBe(401);
      expect(
        (await without.call('POST', `/orgs/self-serve${path}`, { key: ADMIN_TOKEN, body: {} })).status,
      ).toBe(401);
    },
  );
});
