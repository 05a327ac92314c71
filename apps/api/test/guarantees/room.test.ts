/**
 * The storage of tenants that pay nothing is bounded, and the bound never refuses to remove authority (protocol §13,
 * decision 36).
 */
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractCall, freshAddress } from '../world/contract-call.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { inOneWindow, times } from '../world/in-one-window.ts';
import { PROVISION_KEY, requestOf, SELF_SERVE_ENV } from '../world/self-serve.ts';

const CHANGES = 12;
const deployment = withOwnDeployment({ ...SELF_SERVE_ENV, SVC_SELF_SERVE_CHANGES: String(CHANGES) }, 2);
const sandbox = withOwnDeployment({ SVC_DEMO: '1', SVC_DEMO_PER_DAY: '10' }, 2);

interface Newcomer {
  readonly org: { readonly org_id: string };
  readonly org_admin_key: string;
  readonly relying_party: { readonly did: string };
}

const console_ = async (path: string, body: object) => {
  const { json, status } = await deployment.call('POST', `/orgs/self-serve${path}`, {
    key: PROVISION_KEY,
    body,
    headers: { 'x-svc-client-ip': freshAddress() },
  });
  return { status, json };
};
const signUp = async () => (await console_('', requestOf())).json as unknown as Newcomer;

/** Calls both nodes in turn. Calls that a loaded machine refuses are repeated, which changes nothing. */
const callerOf = (key: string) => {
  let calls = 0;
  return async (method: string, path: string, body?: object) => {
    for (;;) {
      calls += 1;
      const { baseUrl } = deployment.processes[calls % 2] ?? deployment.process;
      const answer = await contractCall(baseUrl, method, path, { key, ...(body && { body }) });
      if (answer.status !== 503) return answer;
    }
  };
};

describe('an org that signed itself up', () => {
  it('can make SVC_SELF_SERVE_CHANGES changes on all nodes together, then gets 403 until it has a plan', async () => {
    const { org, org_admin_key: key, relying_party: rp } = await signUp();
    const call = callerOf(key);
    const rename = async () => (await call('PATCH', `/relying-parties/${rp.did}`, { name: 'x' })).status;
    const statuses = await Promise.all(Array.from({ length: CHANGES + 3 }, rename));
    expect(statuses.sort()).toEqual([...Array(CHANGES).fill(200), 403, 403, 403]);
    const refused = await call('PATCH', `/relying-parties/${rp.did}`, { name: 'x' });
    expect(refused.json.message).toContain(`${CHANGES} changes without a plan`);
    expect((await console_('/starter', { rp_did: rp.did })).status).toBe(403);
    expect((await console_('/first-receipt', { rp_did: rp.did })).status).toBe(403);
    expect((await call('GET', '/me')).status).toBe(200);

    const plan = { production: 'allowed', production_until: null, check_cap: null, cap_since: null };
    const push = { ...plan, reason: 'paid', as_of: new Date().toISOString() };
    await deployment.call('PUT', `/orgs/${org.org_id}/entitlement`, { key: ADMIN_TOKEN, body: push });
    for (const _ of [1, 2]) expect(await rename()).toBe(200);
  });

  it('can revoke, disable, retire and compromise after its changes are used up', async () => {
    const { org, org_admin_key: adminKey } = await signUp();
    const tenants = await deployment.createTenants({ orgId: org.org_id });
    const call = callerOf(tenants.principalKey);
    const { json: grant } = await call('POST', '/grants', { agent: tenants.agent.did });
    const { json: other } = await callerOf(adminKey)('POST', `/orgs/${org.org_id}/api-keys`, {
      role: 'read',
    });
    await deployment.sql.query('update self_serve_tenants set changes = $2 where org_id = $1', [
      org.org_id,
      CHANGES,
    ]);
    expect((await call('POST', '/grants', { agent: tenants.agent.did })).json.error).toBe('FORBIDDEN');
    const kid = encodeURIComponent(`${tenants.principalDid}#key-1`);
    for (const [path, body] of [
      ['/revoke', { grant_id: grant.id }],
      [`/agents/${encodeURIComponent(tenants.agent.did)}/disable`, undefined],
      [`/keys/${kid}/retire`, undefined],
      [`/keys/${kid}/compromise`, undefined],
    ] as const)
      expect([path, (await call('POST', path, body)).status]).toEqual([path, 200]);
    const revoke = `/orgs/${org.org_id}/api-keys/${other.key_id}/revoke`;
    expect((await callerOf(adminKey)('POST', revoke)).status).toBe(200);
  });

  it('can verify 600 times a minute with all its relying parties together', async () => {
    const evaluations = Array(50).fill({});
    const batchBy = async (key: string | undefined) =>
      (await deployment.call('POST', '/access/v1/evaluations', { key: key ?? '', body: { evaluations } }))
        .status;
    const statuses = await inOneWindow(async () => {
      const { org } = await signUp();
      const keys: string[] = [];
      for (const orgId of [org.org_id, await deployment.createOrg()])
        for (const _ of [1, 2]) keys.push((await deployment.createTenants({ orgId })).rpKey);
      let calls = 0;
      return times(14, async () => {
        const turn = calls++ % 2;
        return [await batchBy(keys[turn]), await batchBy(keys[2 + turn])];
      });
    });
    expect(statuses).toEqual([...Array(12).fill([200, 200]), [429, 200], [429, 200]]);
  });

  it('differs from an org that the operator made, whose changes are not limited', async () => {
    const orgId = await deployment.createOrg();
    const { rpDid } = await deployment.createTenants({ orgId });
    const call = callerOf(await deployment.createKey('org:admin', orgId));
    for (let i = 0; i <= CHANGES; i++)
      expect((await call('PATCH', `/relying-parties/${rpDid}`, { name: 'x' })).status).toBe(200);
  });
});

describe('the sandbox', () => {
  it('accepts SVC_DEMO_PER_DAY storing calls a day from all addresses on all nodes; revocation is possible afterwards', async () => {
    const post = (path: string, body: object, i = 0) =>
      contractCall(sandbox.processes[i % 2]?.baseUrl ?? '', 'POST', path, { body, ip: freshAddress() });
    const minted = await post('/demo/mint', {});
    const denied = { grant: '', proof: '', action: {} };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        i % 3 === 0 ? post('/demo/verify', denied, i) : post('/demo/mint', {}, i),
      ),
    );
    // Where the day ended meanwhile, a second ceiling applies.
    const { rows } = await sandbox.sql.query('select calls from sandbox_days');
    if (rows.length > 1) return;
    expect(rows).toEqual([{ calls: 10 }]);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.json.message).toContain('today');
    expect(Number(refused?.headers['retry-after'])).toBeLessThanOrEqual(86_400);
    expect((await post('/demo/revoke', { grant_id: minted.json.grant_id })).status).toBe(200);
  });
});
