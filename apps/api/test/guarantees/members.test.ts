/** An org has a limited number of Principals and relying parties (protocol §13), over all nodes together. */
import { generatePrincipalKey } from '@svc/sdk-principal';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractCall } from '../world/contract-call.ts';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';

const MAX = 3;
const deployment = withOwnDeployment({ SVC_MAX_MEMBERS: String(MAX) }, 2);
let publicKeyMultibase: string;

beforeAll(async () => {
  ({ publicKeyMultibase } = await generatePrincipalKey());
});

/** Registers a Principal and a relying party in turn, on the two nodes in turn. */
const register = (key: string, orgId: string | null, i: number) => {
  const { baseUrl } = deployment.processes[i % 2] ?? deployment.process;
  const isPrincipal = i % 4 < 2;
  const body = {
    kind: 'managed',
    slug: randomSlug('m'),
    ...(isPrincipal && { keys: [{ publicKeyMultibase }] }),
    ...(orgId !== null && { org_id: orgId }),
  };
  return contractCall(baseUrl, 'POST', isPrincipal ? '/principals' : '/relying-parties', { key, body });
};
const burst = async (key: string, orgId: string | null) => {
  const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => register(key, orgId, i)));
  return answers.map(({ status }) => status).sort();
};

describe('the limit of members of an org', () => {
  it('holds under concurrent registrations, for Principals and relying parties together', async () => {
    const orgId = await deployment.createOrg();
    const key = await deployment.createKey('org:admin', orgId);
    expect(await burst(key, orgId)).toEqual([...Array(MAX).fill(201), ...Array(8 - MAX).fill(400)]);
    const refused = await register(key, orgId, 2);
    expect(refused.json).toMatchObject({
      error: 'INVALID_REQUEST',
      message: expect.stringContaining(`${MAX}`),
    });
  });

  it('does not apply to registrations outside of orgs', async () => {
    const orgId = await deployment.createOrg();
    const key = await deployment.createKey('org:admin', orgId);
    expect((await register(key, orgId, 0)).status).toBe(201);
    expect(await burst(ADMIN_TOKEN, null)).toEqual(Array(8).fill(201));
  });
});
