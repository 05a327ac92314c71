/** `GET /pauses` (protocol §9). Who may call: access matrix. */
import { expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';
import { issueGrant } from '../../world/tenants.ts';

const deployment = withDeployment();

interface Pause {
  readonly paused_by: { readonly kind: string; readonly did: string | null; readonly key_id: string | null };
}
interface Listed {
  readonly scope: string;
  readonly subject: string;
}
const list = async (key: string, query = '') => {
  const { json } = await deployment.call('GET', `/pauses${query}`, { key });
  return { pauses: json.pauses as Listed[], next: json.next_cursor as string | null };
};
const scopesOf = async (key: string) => (await list(key)).pauses.map(({ scope }) => scope);

it('GET /pauses shows a new holder of a Principal an earlier pause, without the org and the key that set it', async () => {
  const [former, next] = [await deployment.createOrg(), await deployment.createOrg()];
  const did = `did:web:${randomSlug('moved')}.example`;
  await deployment.register('/principals', { kind: 'hosted', did, org_id: former });
  const formerKey = await deployment.createKey('org:admin', former);
  const body = { scope: 'principal', subject: did, reason: 'why' };
  expect((await deployment.call('POST', '/pauses', { key: formerKey, body })).status).toBe(200);
  const pausedBy = async (key: string) =>
    (await list(key, '?scope=principal')).pauses.map((one) => (one as Partial<Pause>).paused_by);
  expect(await pausedBy(formerKey)).toEqual([{ kind: 'org', did: former, key_id: expect.any(String) }]);
  const moved = { kind: 'principal', org_id: next };
  const path = `/claims/${encodeURIComponent(did)}/transfer`;
  expect((await deployment.call('POST', path, { key: ADMIN_TOKEN, body: moved })).status).toBe(200);
  const nextKey = await deployment.createKey('org:admin', next);
  const issued = await deployment.call('POST', `/api-keys?subject=${did}`, { key: nextKey, body: {} });
  for (const key of [nextKey, String(issued.json.api_key)])
    expect(await pausedBy(key)).toEqual([{ kind: 'org', did: null, key_id: null }]);
});

it('GET /pauses lists to each key the pauses of its own subjects and its org, and none of others, in pages', async () => {
  const orgId = await deployment.createOrg();
  const orgRead = await deployment.createKey('org:read', orgId);
  const orgAdmin = await deployment.createKey('org:admin', orgId);
  const [own, other] = [
    await deployment.createTenants({ orgId }),
    await deployment.createTenants({ orgId: await deployment.createOrg() }),
  ];
  const { grantId } = await issueGrant(own);
  const pause = (key: string, body: object) => deployment.call('POST', '/pauses', { key, body });
  await pause(own.principalKey, { scope: 'grant', subject: grantId, reason: 'why' });
  await pause(own.principalKey, { scope: 'agent', subject: own.agent.did });
  await pause(own.principalKey, { scope: 'principal', subject: own.principalDid });
  await pause(own.rpKey, { scope: 'relying_party', subject: own.rpDid });
  await pause(orgAdmin, { scope: 'org', subject: orgId });
  expect(await scopesOf(own.principalKey)).toEqual(['org', 'principal', 'agent', 'grant']);
  expect(await scopesOf(own.rpKey)).toEqual(['org', 'relying_party']);
  expect(await scopesOf(orgRead)).toEqual(['org', 'relying_party', 'principal', 'agent', 'grant']);
  expect(await scopesOf(other.principalKey)).toEqual([]);
  expect(await scopesOf(other.rpKey)).toEqual([]);
  const all = await list(ADMIN_TOKEN, '?scope=grant&limit=200');
  expect(all.pauses).toContainEqual({
    scope: 'grant',
    subject: grantId,
    principal: own.principalDid,
    reason: 'why',
    paused_by: { kind: 'principal', did: own.principalDid, key_id: expect.any(String) },
    paused_at: expect.any(String),
  });

  const keyOfOrg = async (key: string) => {
    const body = (await deployment.call('GET', '/pauses?scope=org', { key })).json;
    return (body.pauses as { paused_by: { key_id: string | null } }[]).map(
      ({ paused_by }) => paused_by.key_id,
    );
  };
  expect(await keyOfOrg(own.principalKey)).toEqual([null]);
  expect(await keyOfOrg(own.rpKey)).toEqual([null]);
  expect(await keyOfOrg(orgRead)).toEqual([expect.any(String)]);

  const pages: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(orgRead, `?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
    pages.push(...page.pauses.map(({ scope }) => scope));
    cursor = page.next;
  }
  expect(pages).toEqual(await scopesOf(orgRead));

  await deployment.call('POST', '/pauses/resume', {
    key: own.principalKey,
    body: { scope: 'agent', subject: own.agent.did },
  });
  expect(await scopesOf(own.principalKey)).toEqual(['org', 'principal', 'grant']);
});
