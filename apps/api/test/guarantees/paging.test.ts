/** Paging of `GET /grants` is complete and stable while other calls allocate and revoke Grants. */
import { encodeUlid } from '@svc/protocol';
import { beforeAll, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withDeployment } from '../world/deployment.ts';
import type { Tenants } from '../world/tenants.ts';

const STORED = 450;

const deployment = withDeployment();
let orgId: string;
let tenants: Tenants;
let stored: string[];

/** Rows are copies of an allocated one, because a key allocates at most 120 a minute. */
beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId });
  const first = await allocate();
  const startMs = Date.now() - 60_000;
  // Many ids share one millisecond.
  const copies = Array.from({ length: STORED - 1 }, (_, i) => {
    const random = new Uint8Array(10).fill(i % 251).fill(i >> 8, 4, 5);
    return `urn:svc:grant:${encodeUlid(startMs + (i % 9), random)}`;
  });
  await deployment.sql.query(
    `insert into grants (id, principal, agent, status_list_url, status_index)
     select n.id, g.principal, g.agent, g.status_list_url, 131072 + n.ordinal
     from grants g, unnest($2::text[]) with ordinality as n (id, ordinal) where g.id = $1`,
    [first, copies],
  );
  stored = [...copies, first].sort().reverse();
});

const allocate = async (): Promise<string> => {
  const options = { key: tenants.principalKey, body: { agent: tenants.agent.did } };
  return String((await deployment.call('POST', '/grants', options)).json.id);
};

interface Page {
  readonly grants: readonly { readonly id: string }[];
  readonly next_cursor: string | null;
}

/** Reads every page from the first to the last; `between` runs after each. */
const readPages = async (key: string, query: string, between = async () => {}): Promise<Page[]> => {
  const pages: Page[] = [];
  for (let from: string | null = ''; from !== null; ) {
    const { json } = await deployment.call('GET', `/grants?${query}${from}`, { key });
    const page = json as unknown as Page;
    pages.push(page);
    from = page.next_cursor === null ? null : `&cursor=${encodeURIComponent(page.next_cursor)}`;
    await between();
  }
  return pages;
};
const idsOf = (pages: readonly Page[]) => pages.flatMap(({ grants }) => grants.map(({ id }) => id));
const principalKey = () => deployment.createKey('principal', tenants.principalDid);

it.each([7, 50, 200])(
  'pages of %d are full except the last, and together list every Grant once, newest first',
  async (limit) => {
    const pages = await readPages(await principalKey(), `limit=${limit}`);
    expect(idsOf(pages)).toEqual(stored);
    expect(pages.map(({ grants }) => grants.length)).toEqual(
      Array.from({ length: Math.ceil(STORED / limit) }, (_, i) => Math.min(limit, STORED - i * limit)),
    );
  },
);

it('a page has 50 Grants where the request has no limit', async () => {
  const { json } = await deployment.call('GET', '/grants', { key: await principalKey() });
  expect(json.grants).toHaveLength(50);
});

it('a page that ends with the last Grant has no next_cursor, even if the page is full', async () => {
  const pages = await readPages(await principalKey(), `limit=${STORED / 3}`);
  expect(pages.map(({ grants }) => grants.length)).toEqual([150, 150, 150]);
});

it('the org and the operator get the same Grants in the same order', async () => {
  const org = await deployment.createKey('org:read', orgId);
  expect(idsOf(await readPages(org, 'limit=200'))).toEqual(stored);
  expect(idsOf(await readPages(ADMIN_TOKEN, `limit=200&principal=${tenants.principalDid}`))).toEqual(stored);
});

it('Grants allocated and revoked between two pages do not change the later pages', async () => {
  const added: string[] = [];
  const pages = await readPages(await principalKey(), 'limit=45', async () => {
    added.push(await allocate());
    const body = { grant_id: added.at(-1) };
    await deployment.call('POST', '/revoke', { key: await principalKey(), body });
  });
  expect(added).toHaveLength(10);
  expect(idsOf(pages)).toEqual(stored);
  expect(idsOf(await readPages(await principalKey(), 'state=revoked')).sort()).toEqual(added.sort());
  expect(idsOf(await readPages(await principalKey(), 'state=active&limit=200'))).toEqual(stored);
});

it('a cursor returns the same page for every key that may read the Grants', async () => {
  const first = await deployment.call('GET', '/grants?limit=5&state=active', { key: await principalKey() });
  const path = `/grants?limit=5&state=active&cursor=${first.json.next_cursor}`;
  const texts = [];
  for (const key of [
    await principalKey(),
    await principalKey(),
    await deployment.createKey('org:read', orgId),
  ])
    texts.push((await deployment.call('GET', path, { key })).text);
  expect(new Set(texts).size).toBe(1);
});
