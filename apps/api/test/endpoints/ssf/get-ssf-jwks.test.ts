/** `GET /ssf/jwks.json`: a library that follows `jwks_uri` accepts what the keys of events sign, and nothing else. */
import { expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { publicJwkOf } from '../../world/published-keys.ts';
import { withStreams } from './world.ts';

const world = withStreams();

it('GET /ssf/jwks.json has only the status keys, under the kids of SETs, and no Receipt key', async () => {
  const { status, json, headers } = await world.deployment.call('GET', '/ssf/jwks.json');
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    ...{ 'content-type': 'application/jwk-set+json', 'cache-control': 'public, max-age=60' },
  });
  const { json: document } = await world.deployment.call('GET', '/.well-known/did.json');
  const kid = `did:web:${DOMAIN}#status-1`;
  expect(json).toEqual({
    keys: [expect.objectContaining({ ...publicJwkOf(document, kid), kid, alg: 'EdDSA' })],
  });
});
