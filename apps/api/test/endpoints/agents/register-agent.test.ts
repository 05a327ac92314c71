/** `POST /agents` (interface §Agent). */
import { encodeMultikey } from '@svc/protocol';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let foreign: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  foreign = await deployment.createTenants();
});

const newAgent = async () => agentFromJwk((await generateAgentKey()).privateJwk);
const register = (key: string, body: unknown, query = '') =>
  deployment.call('POST', `/agents${query}`, { key, body });
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

const auditOf = async (target: string) =>
  (
    await deployment.sql.query(
      'select action, actor_kind, actor_did, details from audit_events where target = $1 order by occurred_at, ctid',
      [target],
    )
  ).rows;

describe('POST /agents', () => {
  it('answers 201 with the Agent of the Principal, and is audited', async () => {
    const { principalDid, principalKey } = await deployment.createTenants();
    const { did } = await newAgent();
    const { status, json } = await register(principalKey, { did });
    expect([status, json]).toEqual([201, { did, principal: principalDid, created_at: timestamp }]);
    expect(await auditOf(did)).toEqual([
      {
        action: 'agent.register',
        actor_kind: 'principal',
        actor_did: principalDid,
        details: { principal: principalDid },
      },
    ]);
  });

  it('answers 409 if the Principal has registered the Agent, also to concurrent calls; another Principal may register it', async () => {
    const { principalKey } = await deployment.createTenants();
    const { did } = await newAgent();
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(principalKey, { did })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)]);
    expect((await register(foreign.principalKey, { did })).status).toBe(201);
    expect((await auditOf(did)).map(({ action }) => action)).toEqual(['agent.register', 'agent.register']);
  });

  it('accepts an org:admin key for the member it names; without a name 400, for another org’s member 404, org:read 403', async () => {
    const { principalDid } = await deployment.createTenants({ orgId });
    const { did } = await newAgent();
    const orgAdmin = await deployment.createKey('org:admin', orgId);
    expect((await register(orgAdmin, { did })).json.error).toBe('INVALID_REQUEST');
    const { status, json } = await register(orgAdmin, { did }, `?principal=${principalDid}`);
    expect([status, json.principal]).toEqual([201, principalDid]);
    expect(await auditOf(did)).toMatchObject([{ actor_kind: 'org', actor_did: orgId }]);
    expect((await register(orgAdmin, { did }, `?principal=${foreign.principalDid}`)).status).toBe(404);
    const orgRead = await deployment.createKey('org:read', orgId);
    expect((await register(orgRead, { did }, `?principal=${principalDid}`)).status).toBe(403);
  });

  it('answers 400 to a malformed body and to a did:key of a weak or malformed key', async () => {
    const { principalKey } = await deployment.createTenants();
    const agent = await newAgent();
    const multikey = (fill: (bytes: Uint8Array) => void) => {
      const bytes = new Uint8Array(32);
      fill(bytes);
      return `did:key:${encodeMultikey(bytes)}`;
    };
    const weak = [
      // The identity, a point of order 8, and an encoding that is not below the field's modulus.
      multikey((bytes) => bytes.set([1])),
      multikey((bytes) =>
        bytes.set(Buffer.from('26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05', 'hex')),
      ),
      multikey((bytes) => bytes.fill(0xff)),
    ];
    const bodies = [
      ...weak.map((did) => ({ did })),
      {},
      { did: null },
      { did: `${agent.did}#${agent.did.slice(8)}` },
      { did: `${agent.did}\n` },
      { did: agent.did.slice(0, -1) },
      { did: foreign.principalDid },
      { did: agent.did, more: 1 },
      [],
    ];
    for (const body of bodies)
      expect([body, (await register(principalKey, body)).json.error]).toEqual([body, 'INVALID_REQUEST']);
  });
});
