/** `GET /.well-known/ssf-configuration`, and that no route of SSF exists without SVC_SSF. */
import { areas, type Route } from '@svc/contract';
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { withStreams } from './world.ts';

const world = withStreams();
const without = withDeployment();

it('GET /.well-known/ssf-configuration publishes the transmitter configuration of SSF 1.0 without authentication', async () => {
  const { status, json, headers } = await world.deployment.call('GET', '/.well-known/ssf-configuration');
  expect(status).toBe(200);
  expect(headers['content-type']).toContain('application/json');
  const { baseUrl } = world.deployment.process.service.identity;
  expect(json).toEqual({
    spec_version: '1_0',
    issuer: baseUrl,
    jwks_uri: `${baseUrl}/ssf/jwks.json`,
    delivery_methods_supported: ['urn:ietf:rfc:8935', 'urn:ietf:rfc:8936'],
    configuration_endpoint: `${baseUrl}/ssf/streams`,
    status_endpoint: `${baseUrl}/ssf/status`,
    verification_endpoint: `${baseUrl}/ssf/verify`,
    authorization_schemes: [{ spec_urn: 'urn:ietf:rfc:6750' }],
    default_subjects: 'ALL',
  });
});

it('The issuer in ssf-configuration is a URL without query and fragment, and the `iss` of streams and SETs', async () => {
  const { json } = await world.deployment.call('GET', '/.well-known/ssf-configuration');
  expect(new URL(String(json.issuer))).toMatchObject({ search: '', hash: '' });
  const stream = await world.create({});
  expect(stream.iss).toBe(json.issuer);
  await world.call('POST', '/ssf/verify', { stream_id: stream.stream_id });
  await world.move();
  const claims = await world.claimsOfOnly(await world.poll(stream.stream_id), stream);
  expect(claims.iss).toBe(json.issuer);
});

it.each(Object.entries(areas.ssf))('Without SVC_SSF the route %s is 404', async (_, route: Route) => {
  const { rpKey } = await without.createTenants();
  const key = route.auth.length === 0 ? ADMIN_TOKEN : rpKey;
  const path = route.path.replace('{stream_id}', 'ssf_01M7VZGC008Q2R7V9X1C4E6H8R');
  const { status } = await without.call(route.method.toUpperCase(), path, { key, body: {} });
  expect(status).toBe(404);
});
