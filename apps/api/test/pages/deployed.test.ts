/** The pages of the built program, as a user opens them: they check real records of a real service. */
import { purchase } from '@svc/sdk-principal';
import { daysAgo, insertReceipts, moveFirstDay, receiptIdsOf } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, DOMAIN } from '../world/api-node.ts';
import { withProcesses } from '../world/deployment.ts';
import { issueGrant, receiptOf, type Tenants, verifyBody } from '../world/tenants.ts';
import { hasBrowser, withBrowser } from './browser.ts';

const deployment = withProcesses();
const { visit } = withBrowser('the pages of the built program');
let tenants: Tenants;

/** Number of Receipts on each day before today, oldest first. */
const DAY_SIZES = [3, 0, 300];
const receiptIds = DAY_SIZES.map((size, i) => receiptIdsOf(daysAgo(DAY_SIZES.length - i), size));
beforeAll(async () => {
  tenants = await deployment.createTenants();
  await moveFirstDay(deployment.databaseUrl, daysAgo(DAY_SIZES.length));
  for (const [i, ids] of receiptIds.entries())
    await insertReceipts(deployment.databaseUrl, ids, [daysAgo(DAY_SIZES.length - i)]);
  await deployment.call('POST', '/checkpoints/close', { key: ADMIN_TOKEN });
});

const decide = async () => {
  const body = await verifyBody(tenants, await issueGrant(tenants));
  return receiptOf(await deployment.call('POST', '/verify', { key: tenants.rpKey, body }));
};

describe.skipIf(!hasBrowser)('the built program', () => {
  it('serves a verifier that shows a Receipt of the service as valid', async () => {
    const receipt = await decide();
    const { baseUrl } = deployment.process;
    const { page, expectQuiet } = await visit(baseUrl);
    await page.goto(`${baseUrl}/verify-receipt#jws=${receipt.receipt}`);
    await page.getByRole('heading', { name: 'Valid', exact: true }).waitFor();
    expect(await page.locator('[data-state=ok]').count()).toBe(12);
    expectQuiet();
  });

  it.runIf(isDeep)('serves a dashboard that lists and opens a decision of the service', async () => {
    const receipt = await decide();
    const { baseUrl } = deployment.process;
    const { page, expectQuiet } = await visit(baseUrl);
    await page.goto(`${baseUrl}/dashboard`);
    await page.getByLabel(/^Key of/).fill(tenants.rpKey);
    await page.keyboard.press('Enter');
    await page.locator('.decision').first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('checked in this tab: valid').waitFor();
    expect(await drawer.textContent()).toContain(receipt.receipt_id);
    expectQuiet();
  });

  it('serves a dashboard whose pause and revoke buttons cause denials and whose resume button causes ALLOWs', async () => {
    const own = await deployment.createTenants({ rp: { profile: 'svc-base-v2' } });
    const held = await own.principal.grants.issue({
      agent: own.agent.did,
      capabilities: [
        purchase({ maxAmountMinor: 50_000, maxTotalMinor: 100_000, currency: 'USD', resources: ['order/*'] }),
      ],
    });
    const reasonOf = async () => {
      const body = await verifyBody(own, held);
      return receiptOf(await deployment.call('POST', '/verify', { key: own.rpKey, body })).reason;
    };
    expect(await reasonOf()).toBe(null);
    const { baseUrl } = deployment.process;
    const { page, expectQuiet } = await visit(baseUrl);
    await page.goto(`${baseUrl}/dashboard#view=grants`);
    await page.getByLabel(/^Key of/).fill(own.principalKey);
    await page.keyboard.press('Enter');
    // The currency comes from the Receipt of the decision that drew on the budget.
    await page.getByText('USD 999.00 of 1,000.00').waitFor();
    await page.getByText('1 ALLOW').waitFor();
    for (const [button, name] of [
      ['Grant', 'this Grant'],
      ['Agent', 'this Agent'],
    ] as const) {
      await page.getByRole('link', { name: `${button}s` }).click();
      await page.getByRole('button', { name: `Pause ${name}` }).click();
      await page.getByRole('button', { name: `Resume ${name}` }).waitFor();
      expect(await reasonOf()).toBe('AUTHORITY_REVOKED');
      await page.getByRole('button', { name: `Resume ${name}` }).click();
      await page.getByRole('button', { name: `Pause ${name}` }).waitFor();
      expect(await reasonOf()).toBe(null);
    }
    await page.getByRole('link', { name: 'Grants' }).click();
    await page.getByRole('button', { name: 'Revoke … this Grant' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke for good' }).click();
    await page.getByText('No Grant is in force.').waitFor();
    expect(await reasonOf()).toBe('AUTHORITY_REVOKED');
    expectQuiet();
  });

  it.runIf(isDeep)(
    'serves a dashboard that shows decisions to an org key, counts to an observer key, and an error to a revoked key',
    async () => {
      const orgId = await deployment.createOrg();
      const { rpDid, ...member } = await deployment.createTenants({ orgId });
      const body = await verifyBody({ ...member, rpDid }, await issueGrant({ ...member, rpDid }));
      await deployment.call('POST', '/verify', { key: member.rpKey, body });
      const { baseUrl } = deployment.process;
      const open = async (key: string) => {
        const visited = await visit(baseUrl);
        await visited.page.goto(`${baseUrl}/dashboard`);
        await visited.page.getByLabel(/^Key of/).fill(key);
        await visited.page.keyboard.press('Enter');
        return visited;
      };
      const org = await open(await deployment.createKey('org:read', orgId));
      await org.page.locator('.decision').first().click();
      await org.page.getByRole('dialog').getByText('checked in this tab: valid').waitFor();
      org.expectQuiet();

      const observer = await open(await deployment.createKey('observer', `did:web:${DOMAIN}`));
      await observer.page.getByRole('heading', { name: 'By Principal' }).waitFor();
      await observer.page.getByText('An observer key reads counts').waitFor();
      observer.expectQuiet();

      await deployment.revokeKey(member.rpKey);
      const { page } = await open(member.rpKey);
      await page.getByRole('alert').getByText('unknown or revoked').waitFor();
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
    },
  );

  it.runIf(isDeep)(
    'serves an explorer that verifies the chain of days and the inclusion of a Receipt',
    async () => {
      const { baseUrl } = deployment.process;
      const { page, expectQuiet } = await visit(baseUrl);
      await page.goto(`${baseUrl}/transparency#receipt=${receiptIds[2]?.[257]}`);
      await page.getByText('it is Receipt 258 of 300').waitFor();
      await expect.poll(() => page.locator('.block[data-state=ok]').count()).toBe(DAY_SIZES.length);
      expect(await page.locator('[data-state=wrong]').count()).toBe(0);
      expectQuiet();
    },
  );

  it('answers 404 for /playground without the sandbox', async () => {
    expect((await deployment.call('GET', '/playground')).status).toBe(404);
  });
});
