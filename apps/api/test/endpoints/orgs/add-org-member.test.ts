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

describe('POST /orgs/{org_id}/members', () => {
  it('adds a relying party; a repeat answers 201 again, another org gets 409, and /me shows the org', async () => {
    const rp = await registerRp();
    const add = (id: string) => post(`/orgs/${id}/members`, { did: rp.did });
    const added = { org_id: orgId, did: rp.did, kind: 'relying_party' };
    for (const { status, json } of [await add(orgId), await add(orgId)])
      expect([status, json]).toEqual([201, added]);
    expect((await add(otherOrgId)).status).toBe(409);
    expect((await deployment.call('GET', '/me', { key: rp.key })).json.org_id).toBe(orgId);
  });

  it('adds a relying party to only one of two orgs in concurrent calls', async () => {
    const rp = await registerRp();
    const answers = await Promise.all(
      [orgId, otherOrgId].map((id) => post(`/orgs/${id}/members`, { did: rp.did })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  describe('for a DID that is both a Principal and a relying party', () => {
    /** Registered by the operator for two customers, in no org. */
    const registerBoth = async () => {
      const did = `did:web:${randomSlug('both')}.example`;
      const principal = await registerHosted(did);
      const relyingParty = await deployment.register('/relying-parties', { kind: 'hosted', did });
      const orgOf = async (key: string) => (await deployment.call('GET', '/me', { key })).json.org_id;
      const orgs = async () => [await orgOf(principal.key), await orgOf(relyingParty.key)];
      const add = async (id: string, kind?: string) => {
        const { status, json } = await post(`/orgs/${id}/members`, { did, ...(kind && { kind }) });
        return [status, json.kind ?? json.error];
      };
      return { add, orgs };
    };

    it('adds the named kind, each to its own org, and does not move it afterwards', async () => {
      const { add, orgs } = await registerBoth();
      for (let i = 0; i < 2; i++) expect(await add(orgId, 'principal')).toEqual([201, 'principal']);
      expect(await orgs()).toEqual([orgId, null]);
      expect(await add(otherOrgId, 'principal')).toEqual([409, 'CONFLICT']);
      expect(await add(otherOrgId, 'relying_party')).toEqual([201, 'relying_party']);
      expect(await orgs()).toEqual([orgId, otherOrgId]);
    });

    it('answers 409 without a kind while neither is in the org, and adds none', async () => {
      const { add, orgs } = await registerBoth();
      expect(await add(orgId)).toEqual([409, 'CONFLICT']);
      expect(await orgs()).toEqual([null, null]);
    });

    it.each(['principal', 'relying_party'])(
      'in a repeat without a kind adds nothing to the %s that is a member',
      async (kind) => {
        const { add, orgs } = await registerBoth();
        await add(orgId, kind);
        const before = await orgs();
        for (let i = 0; i < 2; i++) expect(await add(orgId)).toEqual([201, kind]);
        expect(await orgs()).toEqual(before);
        expect(await add(otherOrgId)).toEqual([409, 'CONFLICT']);
      },
    );
  });

  it('in a repeat adds no relying party that was registered under the DID in the meantime', async () => {
    const did = `did:web:${randomSlug('later')}.example`;
    await registerHosted(did);
    const add = () => post(`/orgs/${orgId}/members`, { did });
    await add();
    const { key } = await deployment.register('/relying-parties', { kind: 'hosted', did });
    expect((await add()).json).toEqual({ org_id: orgId, did, kind: 'principal' });
    expect((await deployment.call('GET', '/me', { key })).json.org_id).toBeNull();
  });

  it('answers 404 if the DID is not of the named kind, and 400 to an unknown kind', async () => {
    const { did } = await registerRp();
    expect((await post(`/orgs/${orgId}/members`, { did, kind: 'principal' })).status).toBe(404);
    expect((await post(`/orgs/${orgId}/members`, { did, kind: 'org' })).status).toBe(400);
  });

  it('answers 404 to an unknown org or DID', async () => {
    const rp = await registerRp();
    expect((await post(`/orgs/${newOrgId()}/members`, { did: rp.did })).status).toBe(404);
    expect((await post(`/orgs/${orgId}/members`, { did: 'did:web:nobody.example' })).status).toBe(404);
    expect((await post('/orgs/org_1/members', { did: rp.did })).status).toBe(404);
  });

  it('lets org keys read a new member at once', async () => {
    const key = await deployment.createKey('org:read', orgId);
    const rp = await registerRp();
    const read = async () => (await deployment.call('GET', `/relying-parties/${rp.did}`, { key })).status;
    expect(await read()).toBe(404);
    await post(`/orgs/${orgId}/members`, { did: rp.did });
    expect(await read()).toBe(200);
  });
});
