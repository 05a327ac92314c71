/** `POST /access/v1/evaluations` (interface §AuthZEN records). Who may call: access matrix. */
import type { JsonObject } from '@svc/protocol';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import { inOneWindow } from '../../world/in-one-window.ts';
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

/** The rules of the certification scenario, each as a request near a permitted one. */
const without = (value: JsonObject, name: string): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => key !== name));

describe('POST /access/v1/evaluations', () => {
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

  it('fills in default entities; an entity of the item replaces the default as a whole', async () => {
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
        { action: { name: ACTION.type, properties: { amount: 101, currency: 'USD' } } },
        { resource: { type: 'order', id: 'order/2' } },
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

  it('does not merge a default into an item’s own entity: a member missing there is an error of the item', async () => {
    const { subject, action, resource } = await permitted();
    const evaluations = [
      { subject: without(subject, 'id') },
      { subject: without(subject, 'type') },
      { action: without(action, 'name') },
      { resource: without(resource, 'id') },
      { resource: without(resource, 'type') },
      { subject: {} },
      { resource: null },
    ];
    const answer = await post(MANY, { subject, action, resource, evaluations });
    expect(decisionsOf(answer)).toEqual(evaluations.map(() => false));
    const items = answer.json.evaluations as { context: { error?: { status: number } } }[];
    expect(items.map(({ context }) => context.error?.status)).toEqual(evaluations.map(() => 400));
    expect(decisionsOf(await post(MANY, { subject, action, resource, evaluations: [{}] }))).toEqual([true]);
  });

  it('fills in the default context, unless the item has its own', async () => {
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

  it('answers a malformed item with false and an error in its place, evaluates the others, and never quotes a key', async () => {
    const asked = await permitted();
    const misplaced = { type: tenants.rpKey, id: tenants.rpKey };
    const evaluations = [
      ...[{}, asked, 'item', without(asked, 'resource'), await denied(), null],
      { ...asked, subject: misplaced },
    ];
    const answer = await post(MANY, { evaluations });
    expect(answer.status).toBe(200);
    expect(decisionsOf(answer)).toEqual([false, true, false, false, false, false, false]);
    const errors = (answer.json.evaluations as { context: { error?: { message: string } } }[]).map(
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
      error('body.evaluations[6].subject.type must be'),
    ]);
    for (const told of errors) if (told !== null) expect(told.message).toMatch(/\.$/);
    // Messages quote the request, but never a key.
    expect(JSON.stringify(answer.json)).not.toContain(tenants.rpKey.slice(0, 20));
  });

  it('allows a Proof only once, even if it stands in 20 items', async () => {
    const asked = await permitted();
    const decisions = decisionsOf(await post(MANY, { evaluations: Array(20).fill(asked) }));
    expect(decisions.filter(Boolean)).toHaveLength(1);
  });

  it.each([
    ['execute_all', [false, true, false, true]],
    ['deny_on_first_deny', [false]],
    ['permit_on_first_permit', [false, true]],
    [undefined, [false, true, false, true]],
  ])(
    'with evaluations_semantic %s stops where it should and leaves the Proofs of later items unspent',
    async (semantic, expected) => {
      const evaluations = [await denied(), await permitted(), await denied(), await permitted()];
      const options = semantic === undefined ? { other: 1 } : { evaluations_semantic: semantic };
      const answer = await post(MANY, { evaluations, options });
      expect(decisionsOf(answer)).toEqual(expected);
      // What was not reached is not spent.
      const [, second, , last] = evaluations;
      const isSpent = [expected.length > 1, expected.length > 3];
      for (const [i, asked] of [second, last].entries())
        expect([semantic, i, (await ask(asked)).decision]).toEqual([semantic, i, !isSpent[i]]);
    },
  );

  it('with deny_on_first_deny continues after permits and stops after the first error', async () => {
    const options = { evaluations_semantic: 'deny_on_first_deny' };
    const evaluations = [await permitted(), await permitted(), {}, await permitted()];
    expect(decisionsOf(await post(MANY, { evaluations, options }))).toEqual([true, true, false]);
  });

  it('without items, or with an empty list, answers as the single evaluation does', async () => {
    const single = await post(MANY, await permitted());
    expect(single.json).toMatchObject({ decision: true, context: { reason: null } });
    const none = await post(MANY, { ...(await permitted()), evaluations: [] });
    expect(none.json).toMatchObject({ decision: true });
    expect((await post(MANY, without(await permitted(), 'subject'))).status).toBe(400);
    expect((await post(MANY, { evaluations: [] })).status).toBe(400);
  });

  it.each([
    ['51 items', { evaluations: Array(51).fill({}) }, 'body.evaluations'],
    ['evaluations that are not a list', { evaluations: {} }, 'body.evaluations'],
    [
      'an unknown semantic',
      { evaluations: [{}], options: { evaluations_semantic: 'any' } },
      'evaluations_semantic',
    ],
    ['options that are not an object', { evaluations: [{}], options: 1 }, 'body.options'],
    ['a default that is not an object', { evaluations: [{}], subject: 'alice' }, 'body.subject'],
  ])('refuses the whole batch with 400: %s', async (_, body, named) => {
    const { status, json } = await post(MANY, body);
    expect([status, json.message]).toEqual([400, expect.stringContaining(named)]);
  });

  it('accepts 50 items, each with its own Grant and Proof', async () => {
    const evaluations = await Promise.all(Array.from({ length: 50 }, permitted));
    expect(JSON.stringify(evaluations).length).toBeGreaterThan(65_536);
    expect(decisionsOf(await post(MANY, { evaluations }))).toEqual(Array(50).fill(true));
  });

  it('refuses a body over 256 KB with 413', async () => {
    const rawBody = `{"evaluations":[{}],"more":"${'x'.repeat(2 ** 18)}"}`;
    expect((await deployment.call('POST', MANY, { key: tenants.rpKey, rawBody })).status).toBe(413);
  });
});

describe('The rate limit of evaluations', () => {
  it('is that of the key’s verifications: each item counts as one, and a batch that exceeds the rest is refused whole', async () => {
    const answers = await inOneWindow(async () => {
      const limited = await deployment.createTenants({ rp: { verify_rate_limit_per_minute: 10 } });
      const send = (path: string, body: unknown) =>
        deployment.call('POST', path, { key: limited.rpKey, body });
      const asked = await permitted();
      return [
        await send('/verify', { grant: '', proof: '', action: {} }),
        await send(ONE, asked),
        await send(MANY, { evaluations: [{}, {}, {}] }),
        await send(MANY, { evaluations: [{}, {}, {}, {}, {}, {}] }),
        await send(MANY, { evaluations: [{}, {}, {}, {}] }),
        await send(ONE, asked),
      ];
    });
    const seen = answers.map(({ status, headers }) => [status, headers['ratelimit-remaining']]);
    expect(seen).toEqual([
      [200, '9'],
      [200, '8'],
      [200, '5'],
      // The call itself counts.
      [429, '4'],
      [200, '0'],
      [429, '0'],
    ]);
    expect(answers[3]?.json.message).toContain(', 4 left;');
  });
});
