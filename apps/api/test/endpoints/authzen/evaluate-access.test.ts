/** `POST /access/v1/evaluation` (interface §AuthZEN records; AuthZEN Authorization API 1.0 and its certification scenarios). Who
 * may call: access matrix. */
import { encodeUtf8, type JsonObject } from '@svc/protocol';
import { verifyReceipt } from '@svc/receipts';
import { apiCall } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { ACTION, type HeldGrant, issueGrant, type Tenants, verifyBody } from '../../world/tenants.ts';

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

/** A client's request for an ALLOW, with an unused Proof. */
const permitted = async (): Promise<Evaluation> => {
  const { grant: presented, proof } = await verifyBody(tenants, grant);
  return {
    subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
    action: { name: ACTION.type, properties: { amount: ACTION.amount, currency: ACTION.currency } },
    resource: { type: 'order', id: ACTION.resource },
  };
};

/** The same for an amount above the Grant's. */
const denied = async (): Promise<Evaluation> => {
  const asked = await permitted();
  return { ...asked, action: { name: ACTION.type, properties: { amount: 101, currency: 'USD' } } };
};

const post = (path: string, body: unknown, more: object = {}) =>
  deployment.call('POST', path, { key: tenants.rpKey, body, ...more });
const ask = async (body: unknown) => (await post(ONE, body)).json;

describe('POST /access/v1/evaluation', () => {
  it('verifies: a permit carries the Receipt that is stored', async () => {
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

  it('answers a DENY with 200 and its reason', async () => {
    const { status, json } = await post(ONE, await denied());
    expect([status, json]).toMatchObject([
      200,
      { decision: false, context: { reason: 'PROOF_ACTION_MISMATCH', agent: tenants.agent.did } },
    ]);
  });

  it('spends the Proof: a second call of /evaluation or /verify is denied as PROOF_REPLAYED', async () => {
    const asked = await permitted();
    expect(await ask(asked)).toMatchObject({ decision: true });
    expect(await ask(asked)).toMatchObject({ decision: false, context: { reason: 'PROOF_REPLAYED' } });
    const { grant: presented, proof } = asked.subject.properties as Record<string, string>;
    const verified = await post('/verify', { grant: presented, proof, action: ACTION });
    expect(verified.json).toMatchObject({ decision: 'DENY', reason: 'PROOF_REPLAYED' });
  });

  it('replays the decision for the same Idempotency-Key and body, marks each replay, and answers another body with 409', async () => {
    const asked = await permitted();
    const more = { headers: { 'idempotency-key': 'authzen-1' } };
    const answers = [
      await post(ONE, asked, more),
      await post(ONE, asked, more),
      await post(ONE, asked, more),
    ];
    expect(answers.map(({ json }) => json.decision)).toEqual([true, true, true]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    const marks = answers.map(({ headers }) => headers['svc-idempotent-replay']);
    expect(marks).toEqual([undefined, 'true', 'true']);
    expect((await post(ONE, await permitted(), more)).status).toBe(409);
  });

  it("reads Grant and Proof from the subject's properties, or from the context if the subject has none", async () => {
    const { subject, ...asked } = await permitted();
    const { properties, ...agent } = subject;
    expect(await ask({ ...asked, subject: agent, context: properties })).toMatchObject({ decision: true });
    const again = await permitted();
    expect(await ask({ ...again, context: { grant: 'x', proof: 'x' } })).toMatchObject({ decision: true });
  });

  it('maps an api:call from the action name, the method property and the resource id as URL', async () => {
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

  it('denies a malformed Grant, Proof or Action, or one that does not match, with 200 and leaves the Proof unspent', async () => {
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

  it('denies an amount that is not a safe integer in integer form: 100.0 and 1e2 do not count as 100', async () => {
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

  it('refuses a subject that is not the Agent of the Proof with 400, and the Proof stays unspent', async () => {
    const asked = await permitted();
    const other = agentFromJwk((await generateAgentKey()).privateJwk).did;
    const { status, json } = await post(ONE, { ...asked, subject: { ...asked.subject, id: other } });
    expect([status, json.message]).toEqual([400, expect.stringContaining('body.subject.id')]);
    expect(await ask(asked)).toMatchObject({ decision: true });
  });

  it('denies a Proof by one Agent under the Grant of another as PROOF_AGENT_MISMATCH', async () => {
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

/** The rules of the certification scenario, each as a request near a permitted one. */
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

describe('An AuthZEN evaluation request', () => {
  it.each(IGNORED)('with %s is permitted: the extra data is ignored', async (_, change) => {
    const { status, json } = await post(ONE, change(await permitted()));
    expect([status, json.decision]).toEqual([200, true]);
  });

  it.each(REFUSED)('is refused with 400 and without a decision: %s', async (_, change, named) => {
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
    ['a malformed number', '{"subject":01.5}'],
    ['20,000 quotes and backslashes', '"\\"'.repeat(20_000)],
  ])('is refused with 400 by both endpoints: %s', async (_, rawBody) => {
    for (const path of [ONE, MANY])
      expect((await deployment.call('POST', path, { key: tenants.rpKey, rawBody })).status).toBe(400);
  });

  it.each([
    undefined,
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ])('of Content-Type %s is refused with 400 by both endpoints', async (type) => {
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

  it.each(['application/json; charset=utf-8', 'Application/JSON'])(
    'of Content-Type %s is accepted',
    async (type) => {
      const { status } = await post(ONE, await permitted(), { headers: { 'content-type': type } });
      expect(status).toBe(200);
    },
  );

  it('gets its X-Request-ID echoed in a permit, a denial and an error; without one, the answer has none', async () => {
    const more = { headers: { 'x-request-id': 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' } };
    for (const [asked, status, decision] of [
      [await permitted(), 200, true],
      [await denied(), 200, false],
      [{}, 400, undefined],
    ] as const) {
      const { json, headers, ...answer } = await post(ONE, asked, more);
      expect([answer.status, json.decision]).toEqual([status, decision]);
      expect(headers['x-request-id']).toBe(more.headers['x-request-id']);
    }
    expect((await post(ONE, await permitted())).headers['x-request-id']).toBeUndefined();
  });

  it.each([ONE, MANY])(
    'to %s gets 401 without a key or with a Principal key, and 405 for another method',
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
