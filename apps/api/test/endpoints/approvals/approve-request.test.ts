/**
 * `POST /principals/{did}/access-requests/{request_id}/approve`: accepts only the Grant that was asked for, which then
 * allows once.
 */
import { type Capability, parseGrant } from '@svc/protocol';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { sampled } from '@svc/testkit/sampled';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  approve,
  ask,
  DEAR,
  insertDue,
  read,
  reject,
  signApproval,
  statusOf,
  verifyAction,
} from '../../world/approvals.ts';
import { withDeployment } from '../../world/deployment.ts';
import { type HeldGrant, issueGrant, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
const V2 = { rp: { profile: 'svc-base-v2' } };
let tenants: Tenants;
let grant: HeldGrant;
beforeAll(async () => {
  tenants = await deployment.createTenants(V2);
  grant = await issueGrant(tenants);
});

let orders = 0;
/** Asks about another resource each time. */
const askNew = (by = tenants, held = grant) => {
  orders += 1;
  return ask(deployment, by, held, { ...DEAR, resource: `order/a${orders}` });
};
const actionOf = ({ resources = [] }: Capability) => ({ ...DEAR, resource: String(resources[0]) });

describe('POST …/access-requests/{request_id}/approve', () => {
  it('returns a Grant that allows exactly the requested Action once; before and after, the Action is denied', async () => {
    const { id, capability } = await askNew();
    const action = actionOf(capability);
    const signed = await signApproval(tenants, capability);
    const approved = await approve(deployment, tenants, id, signed.grant);
    expect(approved.json).toMatchObject({
      task: { status: 'approved' },
      result: { grant: signed.grant, grant_id: signed.grantId },
    });
    expect((await read(deployment, tenants, id, '?wait=20')).json).toEqual(approved.json);
    const verify = (held: HeldGrant, what: object = action) =>
      verifyAction(deployment, tenants, held, what as typeof action);
    expect((await verify(grant)).reason).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    expect((await verify(signed, { ...action, amount: 90_001 })).reason).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    expect((await verify(signed, { ...action, resource: 'order/other' })).reason).toBe(
      'RESOURCE_NOT_AUTHORIZED',
    );
    expect((await verify(signed)).decision).toBe('ALLOW');
    expect((await verify(signed)).reason).toBe('AMOUNT_EXCEEDS_AUTHORITY');
  });

  it('is repeatable with the same Grant; another Grant or a rejection gets 409', async () => {
    const { id, capability } = await askNew();
    const [one, other] = [await signApproval(tenants, capability), await signApproval(tenants, capability)];
    const first = await approve(deployment, tenants, id, one.grant);
    expect((await approve(deployment, tenants, id, one.grant)).text).toBe(first.text);
    expect((await approve(deployment, tenants, id, other.grant)).status).toBe(409);
    expect((await reject(deployment, tenants, id)).status).toBe(409);
    const { json } = await deployment.call('GET', `/audit?target=${id}`, { key: tenants.principalKey });
    expect(json.events).toMatchObject([{ action: 'approval.approve' }]);
  });

  it('concurrent with another approval and a rejection succeeds for exactly one, and the request shows its result', async () => {
    for (let round = 0; round < sampled({ quick: 3, deep: 60 }); round++) {
      // New tenants each time: after a Principal has rejected an Agent five times, it gets no more requests about it.
      const own = await deployment.createTenants(V2);
      const { id, capability } = await askNew(own, await issueGrant(own));
      const [one, other] = [await signApproval(own, capability), await signApproval(own, capability)];
      const answers = await Promise.all([
        approve(deployment, own, id, one.grant),
        approve(deployment, own, id, other.grant),
        reject(deployment, own, id),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const winner = answers.find(({ status }) => status === 200);
      expect((await read(deployment, own, id)).json).toEqual(winner?.json);
    }
  });
});

describe('POST …/access-requests/{request_id}/approve refuses', () => {
  it('with 400 a Grant that does not match the request exactly, and the request stays pending', async () => {
    const { id, capability } = await askNew();
    const other = await deployment.createTenants(V2);
    const constraints = { ...capability.constraints, maxAmount: 90_001 };
    const wrong: readonly [RegExp, Promise<HeldGrant> | HeldGrant][] = [
      [/audience/, signApproval(tenants, capability, { audience: [tenants.rpDid, other.rpDid] })],
      [/audience/, signApproval(tenants, capability, { audience: [other.rpDid] })],
      [/audience/, signApproval({ ...tenants, rpDid: other.rpDid }, capability)],
      [/exactly one/, signApproval(tenants, { ...capability, constraints })],
      [/exactly one/, signApproval(tenants, { ...capability, resources: ['order/**'] })],
      [/exactly one/, signApproval(tenants, capability, { capabilities: [capability, capability] })],
      [/15 minutes/, signApproval(tenants, capability, { lifetimeSeconds: 901 })],
      [/for the Agent/, signApproval(tenants, capability, { agent: (await newAgent()).did })],
      [/issued by/, signApproval({ ...other, agent: tenants.agent, rpDid: tenants.rpDid }, capability)],
      [/signature/, tampered(await signApproval(tenants, capability))],
      [/grant:/, { grant: 'a.b.c', grantId: '' }],
    ];
    for (const [message, signing] of wrong) {
      const answer = await approve(deployment, tenants, id, (await signing).grant);
      expect([answer.status, answer.text]).toEqual([400, expect.stringMatching(message)]);
    }
    expect(statusOf(await read(deployment, tenants, id))).toBe('pending');
  });

  it('with 409 a Grant that would be denied now: not begun, expired, used, revoked, paused or key compromised', async () => {
    const mine = await deployment.createTenants(V2);
    const { id, capability } = await askNew(mine, await issueGrant(mine));
    const begins = (ms: number) => new Date(Math.floor((Date.now() + ms) / 1000) * 1000);
    const used = await signApproval(mine, capability);
    expect((await verifyAction(deployment, mine, used, actionOf(capability))).decision).toBe('ALLOW');
    const revoked = await signApproval(mine, capability);
    await mine.principal.grants.revoke(revoked.grantId);
    for (const [check, signing] of [
      ['P4', signApproval(mine, capability, { validFrom: begins(60_000) })],
      ['P5', signApproval(mine, capability, { validFrom: begins(-60_000), lifetimeSeconds: 30 })],
      ['P6', revoked],
      ['P19', used],
    ] as const) {
      const answer = await approve(deployment, mine, id, (await signing).grant);
      expect([answer.status, answer.text], check).toEqual([409, expect.stringContaining(`at ${check}`)]);
    }
    const signed = await signApproval(mine, capability);
    await mine.principal.pauses.pause({ scope: 'agent', subject: mine.agent.did });
    expect((await approve(deployment, mine, id, signed.grant)).text).toMatch(/at P6/);
    await mine.principal.pauses.resume({ scope: 'agent', subject: mine.agent.did });
    await mine.principal.keys.compromise(`${mine.principalDid}#key-1`);
    expect((await approve(deployment, mine, id, signed.grant)).text).toMatch(/at T3/);
    expect(statusOf(await read(deployment, mine, id))).toBe('pending');
  });

  it('with 409 at P6 while the requesting relying party or its org is paused; after the resume it succeeds', async () => {
    const orgId = await deployment.createOrg();
    const mine = await deployment.createTenants({ ...V2, orgId });
    const { id, capability } = await askNew(mine, await issueGrant(mine));
    const signed = await signApproval(mine, capability);
    const orgKey = await deployment.createKey('org:admin', orgId);
    for (const [key, scope, subject] of [
      [mine.rpKey, 'relying_party', mine.rpDid],
      [orgKey, 'org', orgId],
    ] as const) {
      const target = { key, body: { scope, subject } };
      expect((await deployment.call('POST', '/pauses', target)).status).toBe(200);
      const answer = await approve(deployment, mine, id, signed.grant);
      expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('at P6')]);
      await deployment.call('POST', '/pauses/resume', target);
    }
    expect((await approve(deployment, mine, id, signed.grant)).status).toBe(200);
  });

  it('with 409 an expired request, even if no call has read it since it expired', async () => {
    const { id, capability } = await askNew();
    const due = await insertDue(deployment, id);
    const { grant: signed } = await signApproval(tenants, capability);
    const answer = await approve(deployment, tenants, due, signed);
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('expired already')]);
    expect(statusOf(await read(deployment, tenants, due))).toBe('expired');
  });

  it('with 401 an RP key and with 404 another Principal', async () => {
    const { id, capability } = await askNew();
    const other = await deployment.createTenants(V2);
    const { grant: signed } = await signApproval(tenants, capability);
    expect((await approve(deployment, { ...tenants, principalKey: tenants.rpKey }, id, signed)).status).toBe(
      401,
    );
    expect((await approve(deployment, other, id, signed)).status).toBe(404);
    expect(
      (await approve(deployment, { ...tenants, principalKey: other.principalKey }, id, signed)).status,
    ).toBe(404);
  });
});

const newAgent = async () => agentFromJwk((await generateAgentKey()).privateJwk);
const tampered = ({ grant: jws, grantId }: HeldGrant): HeldGrant => {
  const forged = `${jws.slice(0, -8)}AAAAAAAA`;
  expect(parseGrant(forged).ok).toBe(true);
  return { grant: forged, grantId };
};
