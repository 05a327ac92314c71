/** `GET /grants/{id}/consumption` (interface §Consumable Grants): the log, its pages, and who may read it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Action, JsonObject } from '@svc/protocol';
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import { bodyFor, CALL, issueBudget, usesOf } from '../../world/budgets.ts';
import { randomSlug, withDeployment } from '../../world/deployment.ts';
import { type HeldGrant, receiptOf, type Tenants } from '../../world/tenants.ts';

const deployment = withDeployment();
const folder = mkdtempSync(join(tmpdir(), 'svc-consumption-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let tenants: Tenants;
beforeAll(async () => {
  tenants = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
});

const send = async (grant: HeldGrant, action: Action, as = tenants) => {
  const body = await bodyFor({ agent: tenants.agent, rpDid: as.rpDid }, grant, action);
  const answer = await deployment.call('POST', '/verify', { key: as.rpKey, body });
  return { body, answer, receipt: receiptOf(answer) };
};
const decide = async (grant: HeldGrant, action: Action, as = tenants) => {
  const { decision, reason } = (await send(grant, action, as)).receipt;
  return reason ?? decision;
};

interface Consumption {
  readonly version: number;
  readonly snapshot_hash: string;
  readonly capabilities: readonly JsonObject[];
  readonly events: readonly { readonly version: number; readonly cause: string; readonly cause_id: string }[];
  readonly next_cursor: number | null;
}

const read = async (grantId: string, query = '', key = ADMIN_TOKEN) =>
  (await deployment.call('GET', `/grants/${grantId}/consumption${query}`, { key }))
    .json as unknown as Consumption;

describe('GET /grants/{id}/consumption', () => {
  it('returns the log in pages, newest first, the same to the operator, the relying party and the Principal', async () => {
    const grant = await issueBudget(tenants, usesOf(9));
    for (let i = 0; i < 5; i++) expect(await decide(grant, CALL)).toBe('ALLOW');
    const pages = [await read(grant.grantId, '?limit=2')];
    for (let cursor = pages[0]?.next_cursor; cursor != null; cursor = pages.at(-1)?.next_cursor)
      pages.push(await read(grant.grantId, `?limit=2&cursor=${cursor}`, tenants.rpKey));
    expect(pages.map(({ events }) => events.map(({ version }) => version))).toEqual([[5, 4], [3, 2], [1]]);
    expect(new Set(pages.map(({ version }) => version))).toEqual(new Set([5]));

    const events = [];
    for await (const event of tenants.principal.grants.consumption(grant.grantId, { limit: 2 }))
      events.push(event);
    expect(events).toEqual(pages.flatMap((page) => page.events));
    const page = await tenants.principal.grants.consumptionPage(grant.grantId, { limit: 1 });
    expect([page.version, page.events.length, page.next_cursor]).toEqual([5, 1, 5]);
  });

  it.each(['0', '-1', 'x', '1.5', '9007199254740992', ''])(
    'refuses the cursor %j with 400',
    async (cursor) => {
      const grant = await issueBudget(tenants, usesOf(1));
      const path = `/grants/${grant.grantId}/consumption?cursor=${cursor}`;
      expect((await deployment.call('GET', path, { key: tenants.principalKey })).status).toBe(400);
    },
  );

  it('is readable by the Principal, and by relying parties once they have verified the Grant; others get 404', async () => {
    const stranger = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const grant = await issueBudget(tenants, usesOf(1));
    const path = `/grants/${grant.grantId}/consumption`;
    const statuses = async () =>
      Promise.all(
        [tenants.principalKey, stranger.principalKey, tenants.rpKey, stranger.rpKey].map(
          async (key) => (await deployment.call('GET', path, { key })).status,
        ),
      );
    expect(await statuses()).toEqual([200, 404, 404, 404]);
    await decide(grant, CALL);
    await decide(grant, CALL, stranger);
    expect(await statuses()).toEqual([200, 404, 200, 200]);
  });

  it('is not readable through a Grant that a stranger signed under the same id', async () => {
    const grant = await issueBudget(tenants, usesOf(1));
    expect(await decide(grant, CALL)).toBe('ALLOW');
    const stranger = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const pair = await generatePrincipalKey();
    const slug = randomSlug('forger');
    const { did, key } = await deployment.register('/principals', {
      kind: 'managed',
      slug,
      keys: [pair.registration],
    });
    const forger = createPrincipalClient({
      baseUrl: deployment.process.baseUrl,
      apiKey: key,
      signer: signerFromJwk(pair.privateJwk, `${did}#key-1`),
      fetch: async (...request) => {
        const allocation = await fetch(...request);
        return new Response(
          (await allocation.text()).replace(/urn:svc:grant:\w{26}/, grant.grantId),
          allocation,
        );
      },
    });
    const forged = await issueBudget({ ...stranger, principal: forger }, usesOf(1));
    const body = await bodyFor(stranger, forged, CALL);
    const { json } = await deployment.call('POST', '/verify', { key: stranger.rpKey, body });
    expect(json).toMatchObject({ reason: 'AUTHORITY_REVOKED', grant_id: grant.grantId });
    const path = `/grants/${grant.grantId}/consumption`;
    for (const reader of [stranger.rpKey, key])
      expect((await deployment.call('GET', path, { key: reader })).status).toBe(404);
  });
});
