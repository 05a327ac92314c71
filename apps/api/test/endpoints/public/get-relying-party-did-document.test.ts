/** `GET /rp/{slug}/did.json` (interface §Relying party): the DID of a managed relying party resolves. */
import { expect, it } from 'vitest';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

it('a managed relying party has a document of its DID, and no keys in it', async () => {
  const { rpDid } = await deployment.createTenants();
  const { status, json, headers } = await deployment.call('GET', `/rp/${rpDid.split(':').at(-1)}/did.json`);
  expect([status, json, headers['content-type']]).toEqual([
    200,
    { '@context': ['https://www.w3.org/ns/did/v1'], id: rpDid, verificationMethod: [] },
    'application/did+json',
  ]);
});

it('404 for a slug that nobody has, or a Principal has', async () => {
  const { principalDid } = await deployment.createTenants();
  for (const slug of ['nobody', principalDid.split(':').at(-1)])
    expect((await deployment.call('GET', `/rp/${slug}/did.json`)).json.error).toBe('NOT_FOUND');
});
