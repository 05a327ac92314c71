/** `GET /principals`, the directory (interface §Principal lifecycle, §PrincipalDirectoryEntry). */
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../../world/api-node.ts';
import { newOrgId, randomSlug, withOwnDeployment } from '../../world/deployment.ts';
import type { Tenants } from '../../world/tenants.ts';

const deployment = withOwnDeployment();
let orgId: string;
let otherOrgId: string;
let own: Tenants;
let foreign: Tenants;
let hostedDid: string;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  otherOrgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
  foreign = await deployment.createTenants({ orgId: otherOrgId });
  for (let i = 0; i < 3; i++) await deployment.createTenants({ orgId });
  const hosted = await deployment.register('/principals', {
    kind: 'hosted',
    did: `did:web:${randomSlug('h')}.example`,
  });
  hostedDid = hosted.did;
});

const get = (path: string, key: string) => deployment.call('GET', path, { key });
const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

interface Entry {
  readonly did: string;
  readonly kind: string;
}
interface Page {
  readonly principals: readonly Entry[];
  readonly next_cursor: string | null;
}
const pageOf = async (query: string, key: string): Promise<Page> =>
  (await get(`/principals?${query}`, key)).json as unknown as Page;

/** Reads every DID of the directory, page by page. */
const didsOf = async (query: string, key: string, limit: number): Promise<string[]> => {
  const dids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await pageOf(`${query}&limit=${limit}${from}`, key);
    expect(page.next_cursor === null || page.principals.length === limit).toBe(true);
    if (page.next_cursor !== null) expect(page.next_cursor).toBe(page.principals.at(-1)?.did);
    dids.push(...page.principals.map(({ did }) => did));
    cursor = page.next_cursor;
  }
  return dids;
};

const storedDids = async (condition = 'true'): Promise<string[]> => {
  const { rows } = await deployment.sql.query(`select did from principals where ${condition}`);
  return rows.map((row) => String(row.did)).sort();
};

describe('GET /principals', () => {
  it.each([1, 2, 200])(
    'in pages of %d lists every Principal once, in ascending order of DIDs',
    async (limit) => {
      const key = await deployment.createKey('rp', own.rpDid);
      expect(await didsOf('', key, limit)).toEqual(await storedDids());
    },
  );

  it('is the same for a relying party, a Principal, either org key and the operator', async () => {
    const keys = [
      own.principalKey,
      foreign.rpKey,
      await deployment.createKey('org:read', orgId),
      await deployment.createKey('org:admin', otherOrgId),
      ADMIN_TOKEN,
    ];
    const texts = new Set<string>();
    for (const key of keys) texts.add((await get('/principals?limit=200', key)).text);
    expect(texts.size).toBe(1);
  });

  it('lists a managed Principal with exactly the members of the interface', async () => {
    const { principals } = await pageOf('limit=200', own.rpKey);
    expect(principals.find(({ did }) => did === own.principalDid)).toEqual({
      did: own.principalDid,
      kind: 'managed',
      domain: DOMAIN,
      verification: {
        state: 'verified',
        verified_since: timestamp,
        last_checked_at: timestamp,
        method: 'svc-hosted',
      },
      keys: [{ kid: `${own.principalDid}#key-1`, state: 'active', since: timestamp }],
      did_document: (await deployment.call('GET', `/org/${own.principalDid.split(':').at(-1)}/did.json`))
        .json,
      registered_at: timestamp,
      may_be_named: false,
    });
  });

  it('lists a hosted Principal that was never resolved with no keys and no document', async () => {
    const { principals } = await pageOf('kind=hosted', own.rpKey);
    expect(principals).toEqual([
      {
        did: hostedDid,
        kind: 'hosted',
        domain: hostedDid.slice('did:web:'.length),
        verification: {
          state: 'unverified',
          verified_since: null,
          last_checked_at: null,
          method: 'domain',
        },
        keys: [],
        did_document: null,
        registered_at: timestamp,
        may_be_named: false,
      },
    ]);
  });

  it('never contains a verification token or an org, for RP, operator and org:admin keys', async () => {
    const { rows } = await deployment.sql.query('select verification_token, org_id from principals');
    for (const key of [own.rpKey, ADMIN_TOKEN, await deployment.createKey('org:admin', orgId)]) {
      const { text } = await get('/principals?limit=200', key);
      for (const row of rows) {
        expect(text).not.toContain(row.verification_token);
        if (row.org_id !== null) expect(text).not.toContain(row.org_id);
      }
    }
  });

  it('combines its filters', async () => {
    expect(await didsOf('kind=managed', ADMIN_TOKEN, 3)).toEqual(await storedDids("kind = 'managed'"));
    expect(await didsOf('state=unverified', ADMIN_TOKEN, 3)).toEqual([hostedDid]);
    expect(await didsOf('state=verified&kind=hosted', ADMIN_TOKEN, 3)).toEqual([]);
    expect(await didsOf(`org_id=${orgId}&kind=managed&state=verified`, ADMIN_TOKEN, 2)).toEqual(
      await storedDids(`org_id = '${orgId}'`),
    );
  });

  it('lists Principals registered between two pages only after the cursor, and repeats none', async () => {
    const key = await deployment.createKey('principal', own.principalDid);
    const first = await pageOf('limit=2', key);
    const before = await storedDids();
    for (const slug of ['0', 'zzz'])
      await deployment.register('/principals', {
        kind: 'hosted',
        did: `did:web:${slug}${randomSlug('')}.example`,
      });
    const page = await pageOf(`limit=200&cursor=${encodeURIComponent(String(first.next_cursor))}`, key);
    const added = (await storedDids()).filter((did) => !before.includes(did));
    expect(page.principals.map(({ did }) => did)).toEqual([...before.slice(2), added.at(-1) ?? ''].sort());
  });

  it.each([
    'limit=0',
    'limit=201',
    'kind=other',
    'state=x',
    'org_id=x',
    'cursor=x',
    'cursor=',
    'more=1',
    'kind=managed&kind=hosted',
  ])('is refused with 400: %s', async (query) => {
    const key = await deployment.createKey('rp', own.rpDid);
    expect((await get(`/principals?${query}`, key)).json.error).toBe('INVALID_REQUEST');
  });
});

describe('GET /principals?org_id', () => {
  it.each(['org:read', 'org:admin'] as const)(
    'lists to an %s key the members of its own org',
    async (role) => {
      const key = await deployment.createKey(role, orgId);
      expect(await didsOf(`org_id=${orgId}`, key, 2)).toEqual(await storedDids(`org_id = '${orgId}'`));
    },
  );

  it('answers 404 for another org exactly as for one that does not exist', async () => {
    const key = await deployment.createKey('org:admin', orgId);
    const absent = newOrgId();
    const seen = await get(`/principals?org_id=${otherOrgId}`, key);
    const none = await get(`/principals?org_id=${absent}`, key);
    expect([seen.status, seen.text.replaceAll(otherOrgId, '')]).toEqual([
      404,
      none.text.replaceAll(absent, ''),
    ]);
  });

  it('answers 403 to Principal and RP keys, even for their own org', async () => {
    for (const key of [own.principalKey, own.rpKey])
      for (const asked of [orgId, otherOrgId, newOrgId()])
        expect((await get(`/principals?org_id=${asked}`, key)).json.error).toBe('FORBIDDEN');
  });

  it('lists to the operator the members of any org; an org that does not exist has none', async () => {
    expect(await didsOf(`org_id=${otherOrgId}`, ADMIN_TOKEN, 2)).toEqual([foreign.principalDid]);
    expect(await didsOf(`org_id=${newOrgId()}`, ADMIN_TOKEN, 2)).toEqual([]);
  });
});
