/** `GET /rp/{slug}/did.json` (interface §Relying party): the DID of a managed relying party resolves. */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

it('GET /rp/{slug}/did.json serves the DID document of a managed relying party, without keys', async () => {
  const { rpDid } = await deployment.createTenants();
  const { status, json, headers } = await deployment.call('GET', `/rp/${rpDid.split(':').at(-1)}/did.json`);
  expect([status, json, headers['content-type']]).toEqual([
    200,
    { '@context': ['https://www.w3.org/ns/did/v1'], id: rpDid, verificationMethod: [] },
    'application/did+json',
  ]);
});

it('GET /rp/{slug}/did.json answers 404 to an unknown slug and to the slug of a Principal', async () => {
  const { principalDid } = await deployment.createTenants();
  for (const slug of ['nobody', principalDid.split(':').at(-1)])
    expect((await deployment.call('GET', `/rp/${slug}/did.json`)).json.error).toBe('NOT_FOUND');
});
