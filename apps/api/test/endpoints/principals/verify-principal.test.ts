/** `POST /principals/{did}/verify` (interface §Principal lifecycle). Over time and under load: deployments/hosted-principal. */
import { afterAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';
import { PROOF, startPrincipalHost } from '../../world/principal-host.ts';

const host = await startPrincipalHost();
afterAll(() => host.close());
const name = `${randomSlug('host')}.example`;
const did = `did:web:${name}`;
const deployment = withDeployment({ SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url }) });

const verify = (of: string, key = ADMIN_TOKEN) =>
  deployment.call('POST', `/principals/${of}/verify`, { key });

it('a hosted Principal is verified by the proof on its domain, and by nothing else there', async () => {
  const { key, body } = await deployment.register('/principals', { kind: 'hosted', did });
  const { token } = body.verification as { token: string };
  for (const [page, state] of [
    [undefined, 'unverified'],
    [{ did, token: `${token}x` }, 'unverified'],
    [{ did, token }, 'verified'],
  ] as const) {
    if (page !== undefined) host.pages.set(PROOF, page);
    const { status, json } = await verify(did, key);
    expect([status, json.verification]).toMatchObject([200, { state }]);
  }
  const { json } = await deployment.call('GET', `/principals/${did}`, { key: ADMIN_TOKEN });
  expect(json.verification).toMatchObject({ state: 'verified' });
});

it('a managed Principal is verified without a question to anybody', async () => {
  const { principalDid, principalKey } = await deployment.createTenants();
  const asked = host.asked.length;
  const { status, json } = await verify(principalDid, principalKey);
  expect([status, json.verification]).toMatchObject([200, { state: 'verified' }]);
  expect(host.asked.length).toBe(asked);
});

it('another’s Principal answers exactly as one that does not exist: 404', async () => {
  const { principalKey, principalDid } = await deployment.createTenants();
  const foreign = await deployment.createTenants();
  const absent = principalDid.replace(/.{10}$/, '0000000000');
  const seen = await verify(foreign.principalDid, principalKey);
  const none = await verify(absent, principalKey);
  expect([seen.status, seen.text.replaceAll(foreign.principalDid, '')]).toEqual([
    404,
    none.text.replaceAll(absent, ''),
  ]);
});
