/** `GET /claims/{did}` (protocol §13, Claims). guarantees/claims tests what a claim allows. */
import { beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
const host = `${randomSlug('h')}.example`;
const did = `did:web:${host}`;
let claimant: string;
let claimantReads: string;
let stranger: string;
const keys: Record<string, string> = {};

beforeAll(async () => {
  const orgId = await deployment.createOrg();
  claimant = await deployment.createKey('org:admin', orgId);
  claimantReads = await deployment.createKey('org:read', orgId);
  stranger = await deployment.createKey('org:admin', await deployment.createOrg());
  for (const path of ['/principals', '/relying-parties'] as const)
    keys[path] = (await deployment.register(path, { kind: 'hosted', did }, claimant)).key;
});

const claimsFor = async (key: string | undefined) => {
  const { status, json } = await deployment.call('GET', `/claims/${did}`, { key: key ?? '' });
  const claims = (json.claims ?? []) as { kind: string; dns_txt: object; expires_at: string }[];
  return { status, kinds: claims.map(({ kind }) => kind), claims };
};

it('GET /claims/{did} shows a 7-day expiry and a separate token for each registration of the DID', async () => {
  const { claims } = await claimsFor(claimant);
  const tokens = claims.map(({ dns_txt }) => JSON.stringify(dns_txt));
  expect(new Set(tokens).size).toBe(2);
  for (const { expires_at, dns_txt } of claims) {
    const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
    expect([days > 6.9, days < 7.1]).toEqual([true, true]);
    expect(dns_txt).toMatchObject({ name: `_svc-challenge.${host}` });
  }
});

it('GET /claims/{did} shows to Principal and relying party their own claim, to org and operator both, to others 404', async () => {
  const both = ['principal', 'relying_party'];
  for (const key of [claimant, claimantReads, ADMIN_TOKEN])
    expect(await claimsFor(key)).toMatchObject({ status: 200, kinds: both });
  expect(await claimsFor(keys['/principals'])).toMatchObject({ status: 200, kinds: ['principal'] });
  expect(await claimsFor(keys['/relying-parties'])).toMatchObject({ status: 200, kinds: ['relying_party'] });
  expect(await claimsFor(stranger)).toMatchObject({ status: 404, kinds: [] });
});
