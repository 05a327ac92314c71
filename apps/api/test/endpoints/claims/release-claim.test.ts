/** `POST /claims/{did}/release` (protocol §13, Claims). guarantees/claims tests the DID afterwards. */
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
const release = (did: string, kind: string) =>
  deployment.call('POST', `/claims/${encodeURIComponent(did)}/release`, { key: ADMIN_TOKEN, body: { kind } });

it('POST /claims/{did}/release answers CONFLICT for managed or proven parties, and operator-registered relying parties', async () => {
  const { principalDid, rpDid } = await deployment.createTenants();
  const did = `did:web:${randomSlug('h')}.example`;
  await deployment.register('/principals', { kind: 'hosted', did });
  await deployment.register('/relying-parties', { kind: 'hosted', did });
  await deployment.sql.query('update principals set last_proven_at = now() where did = $1', [did]);
  for (const [of, kind] of [
    [principalDid, 'principal'],
    [rpDid, 'relying_party'],
    [did, 'principal'],
    [did, 'relying_party'],
  ] as const)
    expect((await release(of, kind)).json.error).toBe('CONFLICT');
});

it('POST /claims/{did}/release releases a hosted Principal that the operator registered and that was never proven', async () => {
  const did = `did:web:${randomSlug('h')}.example`;
  await deployment.register('/principals', { kind: 'hosted', did });
  expect((await release(did, 'relying_party')).status).toBe(404);
  expect((await release(did, 'principal')).json).toEqual({ did, kind: 'principal', released: true });
});

it('POST /claims/{did}/release answers 400 to an unknown kind', async () => {
  expect((await release('did:web:shop.example', 'org')).json.error).toBe('INVALID_REQUEST');
});
