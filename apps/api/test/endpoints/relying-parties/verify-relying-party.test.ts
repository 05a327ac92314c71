/**
 * `POST /relying-parties/{did}/verify` (protocol §13, Claims). guarantees/claims tests what a claim allows before that.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withOwnDeployment } from '../../world/deployment.ts';
import { PROOF, startPrincipalHost } from '../../world/principal-host.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const did = `did:web:${name}`;
const deployment = withOwnDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }) });
let orgAdmin: string;
let token: string;
let key: string;

beforeAll(async () => {
  orgAdmin = await deployment.createKey('org:admin', await deployment.createOrg());
  const registered = await deployment.register('/relying-parties', { kind: 'hosted', did }, orgAdmin);
  key = registered.key;
  const { json } = await deployment.call('GET', `/claims/${did}`, { key });
  const [claim] = json.claims as { well_known: { body: { token: string } } }[];
  token = claim?.well_known.body.token ?? '';
});

const verify = (by: string) => deployment.call('POST', `/relying-parties/${did}/verify`, { key: by });

it('POST /relying-parties/{did}/verify leaves the claim open if the domain has no proof, or another token or DID', async () => {
  for (const page of [undefined, { did, token: `${token}x` }, { did: `${did}:x`, token }]) {
    if (page !== undefined) host.pages.set(PROOF, page);
    const { status, json } = await verify(key);
    expect([status, json]).toMatchObject([200, { did, claims: [{ well_known: { body: { did, token } } }] }]);
  }
});

it('POST /relying-parties/{did}/verify answers 503 if the domain cannot be reached', async () => {
  host.isDown = true;
  expect((await verify(key)).status).toBe(503);
  host.isDown = false;
});

it('POST /relying-parties/{did}/verify with a proof closes the claim for good, and is audited once', async () => {
  host.pages.set(PROOF, { did, token });
  for (const by of [orgAdmin, key, ADMIN_TOKEN]) {
    const { status, json } = await verify(by);
    expect([status, json]).toEqual([200, { did, claims: [] }]);
  }
  const query = `target=${encodeURIComponent(did)}&action=relying_party.update`;
  const { json } = await deployment.call('GET', `/audit?${query}`, { key: ADMIN_TOKEN });
  expect(json.events).toMatchObject([{ details: { claim: 'proven' } }]);
});
