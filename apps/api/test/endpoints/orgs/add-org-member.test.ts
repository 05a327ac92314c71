/** `POST /orgs/{org_id}/members` (interface §Org, §Onboarding and organizations). Who may call: access matrix. */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { newOrgId, randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;
let otherOrgId: string;

const post = (path: string, body: unknown, key = ADMIN_TOKEN) =>
  deployment.call('POST', path, { key, ...(body === undefined ? {} : { body }) });
const createOrg = async () =>
  String((await post('/orgs', { slug: randomSlug('org'), name: 'Acme' })).json.org_id);
const registerRp = (more: object = {}) =>
  deployment.register('/relying-parties', { kind: 'managed', slug: randomSlug('r'), ...more });
const registerHosted = (did: string) => deployment.register('/principals', { kind: 'hosted', did });

beforeAll(async () => {
  orgId = await createOrg();
  otherOrgId = await createOrg();
});

describe('members', () => {
  it('a relying party joins; again is harmless; another org is 409; its own key shows the org', async () => {
    const rp = await registerRp();
    const add = (id: string) => post(`/orgs/${id}/members`, { did: rp.did });
    const added = { org_id: orgId, did: rp.did, kind: 'relying_party' };
    for (const { status, json } of [await add(orgId), await add(orgId)])
      expect([status, json]).toEqual([201, added]);
    expect((await add(otherOrgId)).status).toBe(409);
    expect((await deployment.call('GET', '/me', { key: rp.key })).json.org_id).toBe(orgId);
  });

  it('joining two orgs at the same time joins one', async () => {
    const rp = await registerRp();
    const answers = await Promise.all(
      [orgId, otherOrgId].map((id) => post(`/orgs/${id}/members`, { did: rp.did })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  it('a DID that is a Principal and a relying party joins as the one, then as the other', async () => {
    const did = `did:web:${randomSlug('both')}.example`;
    await registerHosted(did);
    await deployment.register('/relying-parties', { kind: 'hosted', did });
    const add = async (id: string) => {
      const { status, json } = await post(`/orgs/${id}/members`, { did });
      return [status, json.kind];
    };
    expect([await add(orgId), await add(orgId), await add(orgId)]).toEqual([
      [201, 'principal'],
      [201, 'relying_party'],
      [201, 'principal'],
    ]);
    expect(await add(otherOrgId)).toEqual([409, undefined]);
  });

  it('404 for an org or a DID that is not there', async () => {
    const rp = await registerRp();
    expect((await post(`/orgs/${newOrgId()}/members`, { did: rp.did })).status).toBe(404);
    expect((await post(`/orgs/${orgId}/members`, { did: 'did:web:nobody.example' })).status).toBe(404);
    expect((await post('/orgs/org_1/members', { did: rp.did })).status).toBe(404);
  });

  it('org keys reach a new member at once', async () => {
    const key = await deployment.createKey('org:read', orgId);
    const rp = await registerRp();
    const read = async () => (await deployment.call('GET', `/relying-parties/${rp.did}`, { key })).status;
    expect(await read()).toBe(404);
    await post(`/orgs/${orgId}/members`, { did: rp.did });
    expect(await read()).toBe(200);
  });
});
