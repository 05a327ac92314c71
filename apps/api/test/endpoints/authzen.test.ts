/**
 * AuthZEN over HTTP (interface §AuthZEN records; AuthZEN Authorization API 1.0 and its certification scenarios). Who may
 * call: access matrix.
 */
import { encodeUtf8, type JsonObject } from '@svc/protocol';
import { verifyReceipt } from '@svc/receipts';
import { apiCall } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../world/api-process.ts';
import { withDeployment } from '../world/deployment.ts';
import { ACTION, type HeldGrant, issueGrant, type Tenants, verifyBody } from '../world/tenants.ts';

const deployment = withDeployment();
const ONE = '/access/v1/evaluation';
const MANY = '/access/v1/evaluations';

let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 1_000_000 } });
  grant = await issueGrant(tenants);
});

interface Evaluation extends JsonObject {
  readonly subject: JsonObject;
  readonly action: JsonObject;
  readonly resource: JsonObject;
}

/** What a client sends for an ALLOW that nobody has had yet. */
const permitted = async (): Promise<Evaluation> => {
  const { grant: presented, proof } = await verifyBody(tenants, grant);
  return {
    subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
    action: { name: ACTION.type, properties: { amount: ACTION.amount, currency: ACTION.currency } },
    resource: { type: 'order', id: ACTION.resource },
  };
};

/** The same, for more than was signed for. */
const denied = async (): Promise<Evaluation> => {
  const asked = await permitted();
  return { ...asked, action: { name: ACTION.type, properties: { amount: 101, currency: 'USD' } } };
};

const post = (path: string, body: unknown, more: object = {}) =>
  deployment.call('POST', path, { key: tenants.rpKey, body, ...more });
const ask = async (body: unknown) => (await post(ONE, body)).json;

describe('one evaluation', () => {
  it('is a verification: a permit carries the Receipt that is stored', async () => {
    const { status, json, headers } = await post(ONE, await permitted());
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { receipt_id: receiptId, receipt: jws } = json.context as Record<string, string>;
    const stored = await deployment.call('GET', `/decisions/${receiptId}`, { key: tenants.rpKey });
    const receipt = stored.json.receipt as JsonObject;
    expect(json).toEqual({
      decision: true,
      context: {
        reason: null,
        receipt_id: receiptId,
        evaluated_at: receipt.evaluated_at,
        relying_party: tenants.rpDid,
        principal: { id: tenants.principalDid, verification: 'domain' },
        agent: tenants.agent.did,
        receipt: receipt.receipt,
        receipt_url: `http://${DOMAIN}/decisions/${receiptId}`,
        issuer: `did:web:${DOMAIN}`,
      },
    });
    expect(receipt.receipt).toBe(jws);
    const { json: didDocument } = await deployment.call('GET', '/.well-known/did.json');
    expect(verifyReceipt(receipt, didDocument).ok).toBe(true);
  });

  it('a DENY is a 200 with its reason', async () => {
    const { status, json } = await post(ONE, await denied());
    expect([status, json]).toMatchObject([
      200,
      { decision: false, context: { reason: 'PROOF_ACTION_MISMATCH', agent: tenants.agent.did } },
    ]);
  });

  it('spends the Proof: asked again, by either endpoint, it is a replay', async () => {
    const asked = await permitted();
    expect(await ask(asked)).toMatchObject({ decision: true });
    expect(await ask(asked)).toMatchObject({ decision: false, context: { reason: 'PROOF_REPLAYED' } });
    const { grant: presented, proof } = asked.subject.properties as Record<string, string>;
    const verified = await post('/verify', { grant: presented, proof, action: ACTION });
    expect(verified.json).toMatchObject({ decision: 'DENY', reason: 'PROOF_REPLAYED' });
  });

  it('gives the same decision to the same request under its Idempotency-Key', async () => {
    const asked = await permitted();
    const more = { headers: { 'idempotency-key': 'authzen-1' } };
    const answers = [
      await post(ONE, asked, more),
      await post(ONE, asked, more),
      await post(ONE, asked, more),
    ];
    expect(answers.map(({ json }) => json.decision)).toEqual([true, true, true]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await post(ONE, await permitted(), more)).status).toBe(409);
  });

  it('takes Grant and Proof from the context, and those of the subject first', async () => {
    const { subject, ...asked } = await permitted();
    const { properties, ...agent } = subject;
    expect(await ask({ ...asked, subject: agent, context: properties })).toMatchObject({ decision: true });
    const again = await permitted();
    expect(await ask({ ...again, context: { grant: 'x', proof: 'x' } })).toMatchObject({ decision: true });
  });

  it('maps an api:call: name, method and the URL as the resource’s id', async () => {
    const url = 'https://api.shop.example/v1/items';
    const held = await tenants.principal.grants.issue({
      agent: tenants.agent.did,
      capabilities: [apiCall({ methods: ['GET'], resources: ['https://api.shop.example/**'] })],
    });
    const call = async (method: string) => {
      const proof = await signProof({
        agent: tenants.agent,
        grantId: held.grantId,
        audience: tenants.rpDid,
        method: 'GET',
        url,
        action: { type: 'api:call', method: 'GET', resource: url },
      });
      return ask({
        subject: { type: 'agent', id: tenants.agent.did, properties: { grant: held.grant, proof } },
        action: { name: 'api:call', properties: { method } },
        resource: { type: 'url', id: url },
      });
    };
    expect(await call('GET')).toMatchObject({ decision: true });
    expect(await call('POST')).toMatchObject({
      decision: false,
      context: { reason: 'PROOF_ACTION_MISMATCH' },
    });
  });

  it('whatever is wrong inside Grant, Proof and Action is a denial with a Receipt', async () => {
    const asked = await permitted();
    const { properties } = asked.subject;
    const cases: [JsonObject, string][] = [
      [
        { subject: { ...asked.subject, properties: { ...(properties as JsonObject), grant: 'x' } } },
        'GRANT_MALFORMED',
      ],
      [
        { subject: { ...asked.subject, properties: { ...(properties as JsonObject), proof: 'x' } } },
        'PROOF_MALFORMED',
      ],
      [{ action: { name: ACTION.type } }, 'ACTION_MALFORMED'],
      [{ action: { name: ACTION.type, properties: { amount: '100', currency: 'USD' } } }, 'ACTION_MALFORMED'],
      [{ action: { name: ACTION.type, properties: { amount: -1, currency: 'USD' } } }, 'ACTION_MALFORMED'],
      [{ resource: { type: 'order', id: '' } }, 'ACTION_MALFORMED'],
      [{ resource: { type: 'order', id: 'order/2' } }, 'PROOF_ACTION_MISMATCH'],
    ];
    for (const [change, reason] of cases) {
      const { status, json } = await post(ONE, { ...asked, ...change });
      expect([change, status, json]).toMatchObject([change, 200, { decision: false, context: { reason } }]);
    }
    expect(await ask(asked)).toMatchObject({ decision: true });
  });

  it('an amount is an integer or nothing: 100.0 and 1e2 are not 100', async () => {
    const asked = await permitted();
    for (const amount of ['100.0', '1e2', '100.00000000000000001', '9007199254740993']) {
      const rawBody = JSON.stringify(asked).replace('"amount":100', `"amount":${amount}`);
      expect(rawBody).toContain(amount);
      const { json } = await deployment.call('POST', ONE, { key: tenants.rpKey, rawBody });
      expect([amount, json]).toMatchObject([
        amount,
        { decision: false, context: { reason: 'ACTION_MALFORMED' } },
      ]);
    }
  });

  it('a subject that is not the Agent of the Proof is a 400, and the Proof stays unspent', async () => {
    const asked = await permitted();
    const other = agentFromJwk((await generateAgentKey()).privateJwk).did;
    const { status, json } = await post(ONE, { ...asked, subject: { ...asked.subject, id: other } });
    expect([status, json.message]).toEqual([400, expect.stringContaining('body.subject.id')]);
    expect(await ask(asked)).toMatchObject({ decision: true });
  });

  it('a permit never names another Agent than the subject: one Agent’s Proof under another’s Grant is denied', async () => {
    const thief = agentFromJwk((await generateAgentKey()).privateJwk);
    const { proof } = await verifyBody({ ...tenants, agent: thief }, grant);
    const asked = await permitted();
    const stolen = { type: 'agent', id: thief.did, properties: { grant: grant.grant, proof } };
    expect(await ask({ ...asked, subject: stolen })).toMatchObject({
      decision: false,
      context: { reason: 'PROOF_AGENT_MISMATCH', agent: thief.did },
    });
  });
});

/** The rules of the certification scenario, each a request near a permitted one. */
const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

type Change = (asked: Evaluation) => unknown;

const IGNORED: readonly (readonly [string, Change])[] = [
  ['a context', (asked) => ({ ...asked, context: { time: '2025-06-27T18:03-07:00', ip: '192.168.1.1' } })],
  ['unknown members', (asked) => ({ ...asked, foo: 'bar', futureField: { nested: true }, latitude: 47.5 })],
  [
    'unknown properties of every entity',
    ({ subject, action, resource }) => ({
      subject: { ...subject, properties: { ...(subject.properties as JsonObject), department: 'Sales' } },
      action: { ...action, properties: { ...(action.properties as JsonObject), soft: true, rate: 0.5 } },
      resource: { ...resource, properties: { status: 'active', owner: 'bob', weight: 1e-3 } },
    }),
  ],
  [
    'unknown members of the entities',
    ({ subject, action, resource }) => ({
      subject: { ...subject, more: 1 },
      action: { ...action, more: 1 },
      resource: { ...resource, more: 1 },
    }),
  ],
];

const REFUSED: readonly (readonly [string, Change, string])[] = [
  ['no subject', (asked) => without(asked, 'subject'), 'body.subject is missing'],
  ['no action', (asked) => without(asked, 'action'), 'body.action is missing'],
  ['no resource', (asked) => without(asked, 'resource'), 'body.resource is missing'],
  [
    'no subject type',
    (asked) => ({ ...asked, subject: without(asked.subject, 'type') }),
    'body.subject.type',
  ],
  ['no subject id', (asked) => ({ ...asked, subject: without(asked.subject, 'id') }), 'body.subject.id'],
  ['no action name', (asked) => ({ ...asked, action: {} }), 'body.action.name'],
  [
    'no resource type',
    (asked) => ({ ...asked, resource: without(asked.resource, 'type') }),
    'body.resource.type',
  ],
  ['no resource id', (asked) => ({ ...asked, resource: without(asked.resource, 'id') }), 'body.resource.id'],
  ['a subject that is a string', (asked) => ({ ...asked, subject: 'alice' }), 'body.subject'],
  ['a subject that is a list', (asked) => ({ ...asked, subject: [asked.subject] }), 'body.subject'],
  ['a subject that is null', (asked) => ({ ...asked, subject: null }), 'body.subject'],
  ['an action name that is a number', (asked) => ({ ...asked, action: { name: 123 } }), 'body.action.name'],
  [
    'a resource id that is a number',
    (asked) => ({ ...asked, resource: { type: 'a', id: 1 } }),
    'body.resource.id',
  ],
  [
    'a resource id that is a fraction',
    (asked) => ({ ...asked, resource: { type: 'a', id: 1.5 } }),
    'body.resource.id',
  ],
  [
    'properties that are a list',
    (asked) => ({ ...asked, action: { ...asked.action, properties: [] } }),
    'body.action',
  ],
  ['a context that is a string', (asked) => ({ ...asked, context: 'now' }), 'body.context'],
  [
    'a subject of another type',
    (asked) => ({ ...asked, subject: { ...asked.subject, type: 'user' } }),
    '"agent"',
  ],
  [
    'a subject that is no did:key',
    (asked) => ({ ...asked, subject: { ...asked.subject, id: 'alice' } }),
    'did:key',
  ],
  ['an action of another name', (asked) => ({ ...asked, action: { name: 'read' } }), 'commerce:purchase'],
  [
    'no Grant and Proof',
    (asked) => ({ ...asked, subject: without(asked.subject, 'properties') }),
    'body.subject.properties.grant',
  ],
  [
    'a Proof that is no string',
    (asked) => ({ ...asked, subject: { ...asked.subject, properties: { grant: 'x', proof: 1 } } }),
    'body.subject.properties.proof',
  ],
  [
    'a type in the action’s properties',
    (asked) => ({ ...asked, action: { ...asked.action, properties: { type: 'api:call' } } }),
    'body.action.properties.type',
  ],
  [
    'a resource in the action’s properties',
    (asked) => ({ ...asked, action: { ...asked.action, properties: { resource: 'order/2' } } }),
    'body.action.properties.resource',
  ],
  ['a list for a body', (asked) => [asked], 'The body'],
  ['null for a body', () => null, 'The body'],
];

describe('what AuthZEN says of requests', () => {
  it.each(IGNORED)('%s: ignored', async (_, change) => {
    const { status, json } = await post(ONE, change(await permitted()));
    expect([status, json.decision]).toEqual([200, true]);
  });

  it.each(REFUSED)('%s: 400, no permit', async (_, change, named) => {
    const { status, json, text } = await post(ONE, change(await permitted()));
    expect([status, json.error]).toEqual([400, 'INVALID_REQUEST']);
    expect(json.message).toContain(named);
    expect(text).not.toContain('decision');
  });

  it.each([
    ['malformed JSON', '{"subject": {"type": "agent"'],
    ['an empty body', ''],
    ['white space', ' \n'],
    ['a member twice', '{"subject":{},"subject":{}}'],
    ['bare words', 'subject=agent'],
    ['numbers that are none', '{"subject":01.5}'],
    ['strings without end', '"\\"'.repeat(20_000)],
  ])('%s: 400', async (_, rawBody) => {
    for (const path of [ONE, MANY])
      expect((await deployment.call('POST', path, { key: tenants.rpKey, rawBody })).status).toBe(400);
  });

  it.each([
    undefined,
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ])('Content-Type %s: 400', async (type) => {
    for (const path of [ONE, MANY]) {
      const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
      const request = { method: 'POST', body: encodeUtf8(JSON.stringify(await permitted())) };
      const answer = await fetch(deployment.process.baseUrl + path, {
        ...request,
        headers: { ...headers, authorization: `Bearer ${tenants.rpKey}` },
      });
      const { message } = (await answer.json()) as { message: string };
      expect([answer.status, message]).toEqual([400, expect.stringContaining('Content-Type')]);
    }
  });

  it.each(['application/json; charset=utf-8', 'Application/JSON'])('Content-Type %s: taken', async (type) => {
    const { status } = await post(ONE, await permitted(), { headers: { 'content-type': type } });
    expect(status).toBe(200);
  });

  it('X-Request-ID comes back, with a permit, a denial and an error alike', async () => {
    const more = { headers: { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' } };
    // The harness holds every answer to the echo; without one sent there is none.
    expect((await post(ONE, await permitted(), more)).headers['x-request-id']).toBe(
      more.headers['x-request-id'],
    );
    expect((await post(ONE, {}, more)).headers['x-request-id']).toBe(more.headers['x-request-id']);
    expect((await post(ONE, await permitted())).headers['x-request-id']).toBeUndefined();
  });

  it.each([ONE, MANY])(
    '%s: 401 without a key and with another class of key, 405 for another method',
    async (path) => {
      const body = await permitted();
      expect((await deployment.call('POST', path, { body })).status).toBe(401);
      expect((await deployment.call('POST', path, { body, key: tenants.principalKey })).status).toBe(401);
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const { status, headers } = await deployment.call(method, path, { key: tenants.rpKey });
        expect([status, headers.allow]).toEqual([405, 'POST, OPTIONS']);
      }
    },
  );
});

describe('a batch', () => {
  const decisionsOf = ({ json }: { json: Readonly<Record<string, unknown>> }) =>
    (json.evaluations as { decision: boolean }[]).map(({ decision }) => decision);
  const receiptsOf = async (jws: readonly string[]) => {
    const { rows } = await deployment.sql.query<{ jws: string }>(
      'select jws from receipts where jws = any ($1)',
      [jws],
    );
    return rows.length;
  };

  it('answers in the order of the items, with a stored Receipt for each', async () => {
    const evaluations = [await permitted(), await denied(), await permitted(), await denied()];
    const answer = await post(MANY, { evaluations });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.json)).toEqual(['evaluations']);
    expect(decisionsOf(answer)).toEqual([true, false, true, false]);
    const items = answer.json.evaluations as { context: { receipt: string } }[];
    expect(await receiptsOf(items.map(({ context }) => context.receipt))).toBe(4);
  });

  it('fills in defaults, which an item’s own member replaces whole', async () => {
    const [one, two] = [await permitted(), await permitted()];
    const { properties } = one.subject;
    const presented = { ...one.subject, properties };
    const shared = { subject: presented, action: one.action, resource: one.resource };
    const answer = await post(MANY, {
      ...shared,
      evaluations: [
        {},
        { subject: two.subject },
        { action: { name: ACTION.type } },
        { action: { properties: { amount: 101, currency: 'USD' } } },
        { resource: { id: 'order/2' } },
      ],
    });
    const items = answer.json.evaluations as { context: { reason: string } }[];
    expect(items.map(({ context }) => context.reason)).toEqual([
      null,
      null,
      'ACTION_MALFORMED',
      'PROOF_ACTION_MISMATCH',
      'PROOF_ACTION_MISMATCH',
    ]);
  });

  it('fills in the context, unless an item has its own', async () => {
    const [one, two] = [await permitted(), await permitted()];
    const agent = without(one.subject, 'properties');
    const answer = await post(MANY, {
      subject: agent,
      action: one.action,
      resource: one.resource,
      context: one.subject.properties,
      evaluations: [{}, { context: two.subject.properties }, { context: { source: 'override' } }],
    });
    expect(decisionsOf(answer)).toEqual([true, true, false]);
    expect((answer.json.evaluations as unknown[])[2]).toEqual({
      decision: false,
      context: { error: { status: 400, message: expect.stringContaining('subject.properties.grant') } },
    });
  });

  it('a malformed item is denied with an error in its place, and does not touch the others', async () => {
    const asked = await permitted();
    const evaluations = [{}, asked, 'item', without(asked, 'resource'), await denied(), null];
    const answer = await post(MANY, { evaluations });
    expect(answer.status).toBe(200);
    expect(decisionsOf(answer)).toEqual([false, true, false, false, false, false]);
    const errors = (answer.json.evaluations as { context: { error?: object } }[]).map(
      ({ context }) => context.error ?? null,
    );
    const error = (text: string) => ({ status: 400, message: expect.stringContaining(text) });
    expect(errors).toEqual([
      error('body.evaluations[0].subject is missing'),
      null,
      error('body.evaluations[2] must be'),
      error('body.evaluations[3].resource is missing'),
      null,
      error('body.evaluations[5] must be'),
    ]);
  });

  it('allows one Proof once, however often it stands there', async () => {
    const asked = await permitted();
    const decisions = decisionsOf(await post(MANY, { evaluations: Array(20).fill(asked) }));
    expect(decisions.filter(Boolean)).toHaveLength(1);
  });

  it.each([
    ['execute_all', [false, true, false, true]],
    ['deny_on_first_deny', [false]],
    ['permit_on_first_permit', [false, true]],
    [undefined, [false, true, false, true]],
  ])('%s', async (semantic, expected) => {
    const evaluations = [await denied(), await permitted(), await denied(), await permitted()];
    const options = semantic === undefined ? { other: 1 } : { evaluations_semantic: semantic };
    const answer = await post(MANY, { evaluations, options });
    expect(decisionsOf(answer)).toEqual(expected);
    // What was not reached is not spent.
    const [, second, , last] = evaluations;
    const isSpent = [expected.length > 1, expected.length > 3];
    for (const [i, asked] of [second, last].entries())
      expect([semantic, i, (await ask(asked)).decision]).toEqual([semantic, i, !isSpent[i]]);
  });

  it('deny_on_first_deny goes on while it is permitted, and an error ends it too', async () => {
    const options = { evaluations_semantic: 'deny_on_first_deny' };
    const evaluations = [await permitted(), await permitted(), {}, await permitted()];
    expect(decisionsOf(await post(MANY, { evaluations, options }))).toEqual([true, true, false]);
  });

  it('without items, or with none, it is the single evaluation and answers as such', async () => {
    const single = await post(MANY, await permitted());
    expect(single.json).toMatchObject({ decision: true, context: { reason: null } });
    const none = await post(MANY, { ...(await permitted()), evaluations: [] });
    expect(none.json).toMatchObject({ decision: true });
    expect((await post(MANY, without(await permitted(), 'subject'))).status).toBe(400);
    expect((await post(MANY, { evaluations: [] })).status).toBe(400);
  });

  it.each([
    ['51 items', { evaluations: Array(51).fill({}) }, 'body.evaluations'],
    ['evaluations that are no list', { evaluations: {} }, 'body.evaluations'],
    [
      'an unknown semantic',
      { evaluations: [{}], options: { evaluations_semantic: 'any' } },
      'evaluations_semantic',
    ],
    ['options that are no object', { evaluations: [{}], options: 1 }, 'body.options'],
    ['a default that is no object', { evaluations: [{}], subject: 'alice' }, 'body.subject'],
  ])('%s: 400 for the whole', async (_, body, named) => {
    const { status, json } = await post(MANY, body);
    expect([status, json.message]).toEqual([400, expect.stringContaining(named)]);
  });

  it('takes 50 items, each with a Grant and a Proof of its own', async () => {
    const evaluations = await Promise.all(Array.from({ length: 50 }, permitted));
    expect(JSON.stringify(evaluations).length).toBeGreaterThan(65_536);
    expect(decisionsOf(await post(MANY, { evaluations }))).toEqual(Array(50).fill(true));
  });

  it('of more than 256 KB is a 413', async () => {
    const rawBody = `{"evaluations":[{}],"more":"${'x'.repeat(2 ** 18)}"}`;
    expect((await deployment.call('POST', MANY, { key: tenants.rpKey, rawBody })).status).toBe(413);
  });
});

describe('limits', () => {
  it('evaluations count like verifications of the key, each item of a batch as one; what does not fit is refused whole', async () => {
    // A burst that meets the turn of the minute is run again, on another key.
    for (;;) {
      const limited = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 10 } });
      const minute = Math.floor(Date.now() / 60_000);
      const send = (path: string, body: unknown) =>
        deployment.call('POST', path, { key: limited.rpKey, body });
      const asked = await permitted();
      const answers = [
        await send('/verify', { grant: '', proof: '', action: {} }),
        await send(ONE, asked),
        await send(MANY, { evaluations: [{}, {}, {}] }),
        await send(MANY, { evaluations: [{}, {}, {}, {}, {}, {}] }),
        await send(MANY, { evaluations: [{}, {}, {}, {}] }),
        await send(ONE, asked),
      ];
      if (minute !== Math.floor(Date.now() / 60_000)) continue;
      const seen = answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']]);
      expect(seen).toEqual([
        [200, '9'],
        [200, '8'],
        [200, '5'],
        // The call itself has counted.
        [429, '4'],
        [200, '0'],
        [429, '0'],
      ]);
      expect(answers[3]?.json.message).toContain('of which 4 are left');
      return;
    }
  });
});

describe('metadata', () => {
  it('names the endpoints under the public address, and what Receipts rest on', async () => {
    const { status, json, headers } = await deployment.call('GET', '/.well-known/authzen-configuration');
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=3600',
    ]);
    expect(json).toEqual({
      policy_decision_point: `http://${DOMAIN}`,
      access_evaluation_endpoint: `http://${DOMAIN}/access/v1/evaluation`,
      access_evaluations_endpoint: `http://${DOMAIN}/access/v1/evaluations`,
      svc: {
        issuer: `did:web:${DOMAIN}`,
        profiles: ['svc-base-v1', 'svc-base-v2'],
        proof_types: ['svc-proof+jwt'],
        receipt_version: 'svc-receipt-v1',
      },
    });
  });
});
