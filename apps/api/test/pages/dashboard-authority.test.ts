/**
 * `/dashboard` of a Principal: who acted under its Grants, what is left of each, and the buttons that stop it; and the
 * switches for other keys.
 */

import { type Body, type Routes, routes } from '@svc/contract';
import { isDeep } from '@svc/testkit/sampled';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/http/api-error.ts';
import { hasBrowser, inspect, withBrowser } from './browser.ts';
import { ME } from './dashboard-records.ts';
import { doesNothingByEnter, openDashboard } from './open-dashboard.ts';
import { AGENTS, DID, GRANTS, grantTo, principalHandlers, QUIET, STRANGER } from './principal-records.ts';

type GrantList = Body<Routes['listGrants'], 200>;
type ApprovalList = Body<Routes['listApprovals'], 200>;

const { visit } = withBrowser('the dashboard of a Principal');

const open = async (view: string) => {
  const { handlers, changes } = principalHandlers();
  const opened = await openDashboard(visit, { token: 'principal', me: ME.principal, handlers, view });
  return { ...opened, changes };
};
const rowOf = (page: Page, id: string) =>
  page
    .getByRole('row')
    .filter({ has: page.getByTitle(id) })
    .first();

describe.skipIf(!hasBrowser)('the dashboard of a Principal', () => {
  it.runIf(isDeep)(
    'shows for each Grant its ALLOWs and what is left of its budgets, and links to its decisions',
    async () => {
      const { page, expectQuiet } = await open('grants');
      await expect.poll(() => page.getByRole('row').count()).toBe(1 + GRANTS.length);
      const first = rowOf(page, GRANTS[0] ?? '');
      await first.getByText('310 ALLOW').waitFor();
      await first.getByText('USD 2,073.00 of 12,500.00').waitFor();
      await first.getByText('low', { exact: true }).waitFor();
      await rowOf(page, GRANTS[1] ?? '')
        .getByText('48 of 150')
        .waitFor();
      const third = rowOf(page, GRANTS[2] ?? '');
      await third.getByText('0 minor units of 5,000').waitFor();
      await third.getByText('in the window from 2026-11-20 00:00:00 UTC').waitFor();
      // The other budget is used up.
      expect(await third.getByText('used up').count()).toBe(1);
      await rowOf(page, GRANTS[3] ?? '')
        .getByText('Nothing has been drawn')
        .waitFor();
      // The service stores which Grants are revoked, but not until when each is valid.
      await page.getByText('Not revoked', { exact: true }).waitFor();
      await page.getByText('may have ended by itself').waitFor();
      expect(await page.getByText(/in force/i).count()).toBe(0);
      await inspect(page, 'dashboard-grants');
      await first.getByRole('link', { name: 'Show its decisions' }).click();
      await page.getByRole('heading', { name: 'Verifies per day' }).waitFor();
      expect(await page.getByRole('textbox', { name: 'Grant' }).inputValue()).toBe(GRANTS[0]);
      await page.goBack();
      await rowOf(page, GRANTS[0] ?? '').waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)('pauses and resumes a Grant with the keyboard only', async () => {
    const { page, changes, expectQuiet } = await open('grants');
    const row = rowOf(page, GRANTS[0] ?? '');
    await row.getByRole('button', { name: 'Pause this Grant' }).focus();
    await page.keyboard.press('Enter');
    await row.getByText('paused', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Resume this Grant' }).focus();
    await page.keyboard.press('Enter');
    await row.getByText('active', { exact: true }).waitFor();
    expect(changes.asked).toEqual([
      { pause: 'grant', subject: GRANTS[0] },
      { resume: 'grant', subject: GRANTS[0] },
    ]);
    expectQuiet();
  });

  it('revokes a Grant only after a confirmation, which cannot be closed while the call is under way', async () => {
    const { page, changes, expectQuiet } = await open('grants');
    const revoke = rowOf(page, GRANTS[0] ?? '').getByRole('button', { name: 'Revoke … this Grant' });
    const dialog = page.getByRole('dialog');
    await revoke.click();
    await dialog.getByText('This cannot be undone.').waitFor();
    await inspect(page, 'dashboard-revoke', 'none');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    // The element that has the focus first does no harm.
    await doesNothingByEnter(page, revoke);
    expect(changes.asked).toEqual([]);
    expectQuiet();
    // It also cannot be closed while the call is under way, since only the dialog shows the result.
    let letGo = () => {};
    changes.heldBy = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    changes.failWith = new ApiError('SERVICE_UNAVAILABLE', 'Recorded but not yet visible everywhere.');
    await revoke.click();
    await dialog.getByRole('button', { name: 'Revoke for good' }).click();
    await dialog.getByRole('button', { name: 'Revoking …' }).waitFor();
    const cancel = dialog.getByRole('button', { name: 'Cancel' });
    expect(await cancel.getAttribute('aria-disabled')).toBe('true');
    // A second Escape would close a dialog that refuses only the first.
    for (let i = 0; i < 3; i++) await page.keyboard.press('Escape');
    await cancel.click({ force: true });
    await dialog.getByRole('button', { name: 'Revoking …' }).waitFor();
    letGo();
    await dialog.getByRole('alert').getByText('Recorded but not yet visible').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await revoke.click();
    await dialog.getByRole('button', { name: 'Revoke for good' }).click();
    await dialog.waitFor({ state: 'hidden' });
    // The list of Grants in force is loaded again, and the Grant is no longer in it.
    await expect.poll(() => page.getByRole('row').count()).toBe(GRANTS.length);
    await page.getByText('Revoked', { exact: true }).click();
    await rowOf(page, GRANTS[0] ?? '')
      .getByText('No longer counts')
      .waitFor();
    expect(changes.asked).toEqual([{ revoke: GRANTS[0] }, { revoke: GRANTS[0] }]);
  });

  it.runIf(isDeep)(
    'shows the error of a pause or revocation that failed with 503, and offers to try again',
    async () => {
      const { page, changes } = await open('grants');
      const row = rowOf(page, GRANTS[0] ?? '');
      const busy = () => new ApiError('SERVICE_UNAVAILABLE', 'Recorded but not yet visible everywhere.');
      changes.failWith = busy();
      await row.getByRole('button', { name: 'Pause this Grant' }).click();
      await row.getByRole('alert').getByText('Recorded but not yet visible').waitFor();
      await row.getByText('active', { exact: true }).waitFor();
      changes.failWith = busy();
      await row.getByRole('button', { name: 'Revoke … this Grant' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('button', { name: 'Revoke for good' }).click();
      await dialog.getByRole('alert').getByText('Recorded but not yet visible').waitFor();
      await dialog.getByRole('button', { name: 'Try again' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await expect.poll(() => page.getByRole('row').count()).toBe(GRANTS.length);
    },
  );

  it.runIf(isDeep)('lists the Agents, pauses one, and revokes all its Grants', async () => {
    const { page, changes, expectQuiet } = await open('agents');
    const row = rowOf(page, AGENTS[0]);
    await row.getByText('3 Grants not revoked').waitFor();
    await page.getByText('may have ended by itself').waitFor();
    await row.getByText('USD 12,843.00').waitFor();
    const stranger = rowOf(page, STRANGER);
    await stranger.getByText('No Grant of yours names it: its Proofs were denied.').waitFor();
    expect(await stranger.getByRole('button').count()).toBe(0);
    await inspect(page, 'dashboard-agents');
    await row.getByRole('button', { name: 'Pause this Agent' }).click();
    await row.getByText('paused', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Revoke all … Grants of this Agent' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke all for good' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(changes.asked).toEqual([{ pause: 'agent', subject: AGENTS[0] }, { disable: AGENTS[0] }]);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'lists the relying parties that decided about its Agents, and links to their decisions',
    async () => {
      const { page, expectQuiet } = await open('parties');
      await page.getByText('3 asked in 30 days').waitFor();
      await page.getByText('290 ALLOW').waitFor();
      await inspect(page, 'dashboard-parties');
      await page.getByRole('link', { name: 'Show its decisions' }).first().click();
      await page.getByRole('heading', { name: 'Verifies per day' }).waitFor();
      expect(await page.getByRole('textbox', { name: 'Relying party' }).inputValue()).toBe(
        'did:web:shop.example',
      );
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'asks before it pauses the Principal, and Enter on the first focused button does nothing',
    async () => {
      const { page, changes } = await open('grants');
      const pause = page.getByRole('button', { name: 'Pause this Principal' });
      await doesNothingByEnter(page, pause);
      expect(changes.asked).toEqual([]);
    },
  );

  // In a sample deployed.test.ts pauses and resumes a Grant of a real service.
  it.runIf(isDeep)('pauses the Principal with a reason, shows the pause, and resumes it', async () => {
    const { page, changes, expectQuiet } = await open('grants');
    const identity = page.getByRole('region', { name: 'Whose decisions' });
    // A DID breaks between its parts.
    expect(await identity.locator('h2').innerHTML()).toContain(DID.replaceAll(':', ':<wbr>'));
    await identity.getByRole('button', { name: 'Pause this Principal' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Why, if you want it remembered').fill('Something is wrong.');
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
    await identity.getByText('“Something is wrong.”').waitFor();
    await inspect(page, 'dashboard-paused');
    await identity.getByRole('button', { name: 'Resume this Principal' }).click();
    await identity.getByText('active', { exact: true }).waitFor();
    expect(changes.asked).toEqual([
      { pause: 'principal', subject: DID, reason: 'Something is wrong.' },
      { resume: 'principal', subject: DID },
    ]);
    expectQuiet();
  });
});

describe.skipIf(!hasBrowser)('the header of the dashboard of a Principal', () => {
  it.runIf(isDeep)(
    'shows in every view how many requests wait for approval, with a link to /approve',
    async () => {
      const { handlers } = principalHandlers();
      const { example } = routes.listApprovals.responses[200].schema.meta() as { example: ApprovalList };
      const [request] = example.requests;
      const asked: unknown[] = [];
      const listApprovals: NonNullable<(typeof handlers)['listApprovals']> = async ({ params, query }) => {
        asked.push([params.did, query.status]);
        return { status: 200, body: { requests: [request, request], next_cursor: null } as ApprovalList };
      };
      const { page, expectQuiet } = await openDashboard(visit, {
        ...{ token: 'principal', me: ME.principal, view: 'grants' },
        handlers: { ...handlers, listApprovals },
      });
      const link = page.getByRole('link', { name: '2 requests wait for your answer' });
      await link.waitFor();
      await inspect(page, 'dashboard-waiting');
      await page.getByRole('link', { name: 'Agents' }).click();
      await rowOf(page, AGENTS[0]).waitFor();
      expect([await link.getAttribute('href'), asked]).toEqual(['approve#all', [[DID, 'pending']]]);
      expectQuiet();
    },
  );

  it.runIf(isDeep)('wraps a long DID without accessibility findings', async () => {
    const subject = 'did:web:localhost%3A23816:org:a-company-with-a-rather-long-name';
    const { page, expectQuiet } = await openDashboard(visit, {
      ...{ token: 'principal', me: { ...ME.principal, subject } as typeof ME.principal, view: 'grants' },
      handlers: principalHandlers().handlers,
    });
    await page.getByRole('heading', { name: subject }).waitFor();
    await inspect(page, 'dashboard-long-name', 'dark');
    expectQuiet();
  });
});

describe.skipIf(!hasBrowser)('the dashboard of a Principal, with missing or late data', () => {
  it('shows nothing as active while pauses cannot be read, and can still pause a Grant', async () => {
    const { handlers, changes } = principalHandlers();
    let isAway = true;
    const listPauses: typeof handlers.listPauses = async (call) => {
      if (isAway || handlers.listPauses === undefined) throw new ApiError('INTERNAL', 'Storage is away.');
      return handlers.listPauses(call);
    };
    const { page } = await openDashboard(visit, {
      ...{ token: 'principal', me: ME.principal, view: 'grants' },
      handlers: { ...handlers, listPauses },
    });
    const unread = page.getByRole('alert').getByText('Whether anything is paused could not be read');
    const active = page.getByText('active', { exact: true });
    await unread.waitFor();
    const row = rowOf(page, GRANTS[0] ?? '');
    await row.getByText('310 ALLOW').waitFor();
    expect(await active.count()).toBe(0);
    isAway = false;
    await row.getByRole('button', { name: 'Pause this Grant' }).click();
    await row.getByText('paused', { exact: true }).waitFor();
    expect(changes.asked).toEqual([{ pause: 'grant', subject: GRANTS[0] }]);
    // A state that was read before a change is not shown as the state after it.
    isAway = true;
    await rowOf(page, GRANTS[1] ?? '')
      .getByRole('button', { name: 'Pause this Grant' })
      .click();
    await unread.waitFor();
    expect(await active.count()).toBe(0);
  });

  it.runIf(isDeep)('does not show a list of an earlier filter while the new one loads', async () => {
    const { handlers } = principalHandlers();
    const revoked = new Set<string>();
    let answer = Promise.resolve();
    const { page } = await openDashboard(visit, {
      ...{ token: 'principal', me: ME.principal, view: 'grants' },
      handlers: {
        ...handlers,
        listGrants: async ({ query: { state } }) => {
          await answer;
          const grants = GRANTS.map((id, i) => ({
            ...{ ...grantTo(AGENTS[0], i), state: revoked.has(id) ? 'revoked' : 'active' },
          })).filter((grant) => grant.state === state);
          return { status: 200, body: { grants, next_cursor: null } as GrantList };
        },
      },
    });
    const choose = (state: string) => page.getByRole('group').getByText(state, { exact: true }).click();
    await rowOf(page, GRANTS[0] ?? '').waitFor();
    await choose('Revoked');
    await page.getByText('Nothing has been revoked.').waitFor();
    let letGo = () => {};
    answer = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await choose('Not revoked');
    await page.getByRole('region', { name: 'Grants' }).getByText('Loading …').waitFor();
    expect(await page.getByText('No Grant is in force').count()).toBe(0);
    letGo();
    await rowOf(page, GRANTS[0] ?? '').waitFor();
    // Revoked elsewhere.
    revoked.add(GRANTS[0] ?? '');
    await choose('Revoked');
    await rowOf(page, GRANTS[0] ?? '')
      .getByText('No longer counts')
      .waitFor();
  });
});

describe.skipIf(!hasBrowser)('the dashboard of a Principal with many Grants', () => {
  it.runIf(isDeep)(
    'stops reading budgets before the rate limit is used up, so that an old Grant can still be revoked',
    async () => {
      const { handlers, changes } = principalHandlers();
      const [drawn = ''] = GRANTS;
      const { page } = await openDashboard(visit, {
        ...{ token: 'principal', me: ME.principal, view: 'grants' },
        handlers: {
          ...handlers,
          listGrants: async ({ query: { cursor = '0' } }) => {
            const at = Number(cursor);
            const grants = Array.from({ length: 20 }, (_, i) => ({
              ...grantTo(AGENTS[0], i),
              id: `${drawn.slice(0, -2)}${at}${'0123456789ABCDEFGHJK'[i]}`,
            }));
            const body = { grants, next_cursor: at === 2 ? null : String(at + 1) } as GrantList;
            return { status: 200, body };
          },
          getGrantConsumption: async (call) => {
            if (handlers.getGrantConsumption === undefined) throw new Error('no such handler');
            return handlers.getGrantConsumption({ ...call, params: { ...call.params, id: drawn as never } });
          },
        },
      });
      let calls = 0;
      page.on('request', (request) => {
        if (request.headers().authorization !== undefined) calls += 1;
      });
      for (const rows of [20, 40]) {
        await expect.poll(() => page.getByRole('row').count()).toBe(1 + rows);
        await page.getByText('Loading …').first().waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Older' }).click();
      }
      const last = rowOf(page, `${drawn.slice(0, -2)}2K`);
      await last.getByText('Not read now').waitFor();
      await last.getByRole('button', { name: 'Read it' }).click();
      await last.getByText('USD 2,073.00 of 12,500.00').waitFor();
      await last.getByRole('button', { name: 'Revoke … this Grant' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke for good' }).click();
      await expect.poll(() => changes.asked).toEqual([{ revoke: `${drawn.slice(0, -2)}2K` }]);
      expect(calls).toBeLessThan(100);
    },
  );
});

describe.skipIf(!hasBrowser)('the list of Agents of a Principal with many Grants', () => {
  const TO_ONE = Array.from({ length: 200 }, (_, i) => grantTo(AGENTS[0], i));
  const countText = (page: Page, did: string) =>
    rowOf(page, did)
      .getByText(/Grants? not /)
      .textContent();
  const revokeAll = (page: Page, did: string) =>
    rowOf(page, did).getByRole('button', { name: 'Revoke all … Grants of this Agent' });

  it('counts the Grants of each Agent over all pages, and can revoke those of an Agent that has only an old one', async () => {
    const { handlers, changes } = principalHandlers();
    const asked: unknown[] = [];
    const listGrants: NonNullable<(typeof handlers)['listGrants']> = async ({ query }) => {
      asked.push([query.state, query.cursor]);
      const body: GrantList =
        query.cursor === undefined
          ? { grants: TO_ONE, next_cursor: 'older' }
          : { grants: [grantTo(AGENTS[0], 200), grantTo(QUIET, 201)], next_cursor: null };
      return { status: 200, body };
    };
    const { page, expectQuiet } = await openDashboard(visit, {
      ...{ token: 'principal', me: ME.principal, view: 'agents' },
      handlers: { ...handlers, listGrants },
    });
    await rowOf(page, QUIET).getByText('1 Grant not revoked').waitFor();
    expect(asked).toEqual([
      ['active', undefined],
      ['active', 'older'],
    ]);
    expect(await countText(page, AGENTS[0])).toBe('201 Grants not revoked');
    expect(await countText(page, AGENTS[1])).toBe('0 Grants not revoked');
    await page.getByText('4 with a Grant that is not revoked or a decision in 30 days').waitFor();
    expect(await rowOf(page, STRANGER).getByRole('button').count()).toBe(0);
    await revokeAll(page, QUIET).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke all for good' }).click();
    await expect.poll(() => changes.asked).toEqual([{ disable: QUIET }]);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'says when not all Grants were counted, and then offers pause and revocation for every Agent',
    async () => {
      const { handlers } = principalHandlers();
      let isAway = true;
      const listGrants: NonNullable<(typeof handlers)['listGrants']> = async ({
        query: { cursor = '0' },
      }) => {
        if (isAway) throw new ApiError('INTERNAL', 'A fault of the service.');
        const isLast = cursor === '11';
        const body: GrantList = {
          grants: isLast ? [grantTo(QUIET, 0)] : TO_ONE,
          next_cursor: isLast ? null : (String(Number(cursor) + 1) as never),
        };
        return { status: 200, body };
      };
      const { page } = await openDashboard(visit, {
        ...{ token: 'principal', me: ME.principal, view: 'agents' },
        handlers: { ...handlers, listGrants },
      });
      const expectStoppable = async () => {
        for (const did of [AGENTS[0], AGENTS[1], STRANGER]) {
          await revokeAll(page, did).waitFor();
          await rowOf(page, did).getByRole('button', { name: 'Pause this Agent' }).waitFor();
        }
        expect(await countText(page, AGENTS[1])).toBe('Grants not counted');
        expect(await countText(page, STRANGER)).toBe('Grants not counted');
      };
      // None could be loaded.
      await page.getByRole('alert').getByText('A fault of the service.').waitFor();
      await expectStoppable();
      expect(await countText(page, AGENTS[0])).toBe('Grants not counted');
      isAway = false;
      await page.getByRole('link', { name: 'Relying parties' }).click();
      await page.getByText('3 asked in 30 days').waitFor();
      await page.getByRole('link', { name: 'Agents' }).click();
      // There are more than are loaded at once.
      await page
        .getByText('Counted are the newest 2,000 Grants that are not revoked; there are more.')
        .waitFor();
      expect(await countText(page, AGENTS[0])).toBe('2,000 or more Grants not revoked');
      await page.getByText('3 or more with a Grant that is not revoked or a decision in 30 days').waitFor();
      await expectStoppable();
      await inspect(page, 'dashboard-agents-many', 'dark');
      await page.getByRole('button', { name: 'Count older ones' }).click();
      await rowOf(page, QUIET).getByText('1 Grant not revoked').waitFor();
      expect(await countText(page, AGENTS[0])).toBe('2,200 Grants not revoked');
      expect(await rowOf(page, STRANGER).getByRole('button').count()).toBe(0);
      expect(await page.getByText('there are more').count()).toBe(0);
    },
  );
});

describe.skipIf(!hasBrowser)('the dashboard of', () => {
  it.runIf(isDeep)('a relying party pauses it', async () => {
    const { handlers, changes } = principalHandlers();
    const { listPauses, pause, resume } = handlers;
    const own = { ...(listPauses && { listPauses }), ...(pause && { pause }), ...(resume && { resume }) };
    const { page } = await openDashboard(visit, { token: 'rp', me: ME.rp, handlers: own });
    await page.getByRole('button', { name: 'Pause this relying party' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
    await page.getByText('Paused: whatever this relying party asks is denied.').waitFor();
    expect(changes.asked).toEqual([{ pause: 'relying_party', subject: ME.rp.subject }]);
  });

  it.runIf(isDeep)(
    'an org with an org:admin key has pause buttons for the org and each member; with an org:read key it has none',
    async () => {
      const members = [
        { did: 'did:web:acme.example', kind: 'principal' },
        { did: 'did:web:shop.example', kind: 'relying_party' },
      ] as never;
      const { handlers, changes } = principalHandlers();
      const me = { ...ME.org, role: 'org:admin', members } as const;
      const { page, expectQuiet } = await openDashboard(visit, {
        ...{ token: 'orgAdmin', me: me as never, handlers, view: 'members' },
      });
      await page.getByRole('button', { name: 'Pause did:web:shop.example' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Pause', exact: true }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      await page
        .getByRole('row')
        .filter({ hasText: 'shop.example' })
        .getByText('paused', { exact: true })
        .waitFor();
      await doesNothingByEnter(page, page.getByRole('button', { name: 'Pause this org' }));
      await inspect(page, 'dashboard-members');
      expect(changes.asked).toEqual([{ pause: 'relying_party', subject: 'did:web:shop.example' }]);
      expectQuiet();

      const reader = await openDashboard(visit, {
        ...{ token: 'orgRead', me: { ...ME.org, members } as never, handlers, view: 'members' },
      });
      await reader.page.getByRole('row').filter({ hasText: 'shop.example' }).waitFor();
      expect(await reader.page.getByRole('button', { name: /^(Pause|Resume)/ }).count()).toBe(0);
    },
  );
});
