/** Opens the dashboard with a key, over the answers of a test. */
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import type { Locator, Page } from 'playwright-core';
import { TOKENS } from '../world/http-fixture.ts';
import type { Visit } from './browser.ts';
import { listDecisions, type ME, statsFor, usageFor } from './dashboard-records.ts';
import { type Served, servePages } from './serve.ts';

export interface Opening {
  readonly token: keyof typeof TOKENS;
  readonly me: (typeof ME)[keyof typeof ME];
  readonly handlers?: NonNullable<Served['handlers']>;
  /** View in the address, without `#`. */
  readonly view?: string;
}

export const openDashboard = async (
  visit: (origin: string) => Promise<Visit>,
  { token, me, handlers, view = '' }: Opening,
) => {
  const base = await servePages({
    didDocument: serviceDocument,
    handlers: {
      getMe: async () => ({ status: 200, body: me }),
      getUsage: async ({ query }) => ({ status: 200, body: usageFor(query.since, query.until) }),
      getDecisionStats: async ({ query }) => ({ status: 200, body: statsFor(query.since, query.until) }),
      getPrincipalDecisionStats: async ({ query }) => ({
        status: 200,
        body: statsFor(query.since, query.until),
      }),
      listDecisions: async ({ query }) => ({ status: 200, body: listDecisions(query) }),
      listPrincipalDecisions: async ({ query }) => ({ status: 200, body: listDecisions(query) }),
      listApprovals: async () => ({ status: 200, body: { requests: [], next_cursor: null } }),
      listPauses: async () => ({ status: 200, body: { pauses: [], next_cursor: null } }),
      ...handlers,
    },
  });
  const visited = await visit(base);
  await visited.page.goto(`${base}/dashboard${view === '' ? '' : `#view=${view}`}`);
  await visited.page.getByLabel(/^Key of/).fill(TOKENS[token]);
  await visited.page.keyboard.press('Enter');
  await visited.page.getByRole('region', { name: 'Whose decisions' }).waitFor();
  return { ...visited, base };
};

/** Checks the confirmation before a far-reaching act: presses its button and then Enter, which must do nothing. */
export const doesNothingByEnter = async (page: Page, button: Locator) => {
  const dialog = page.getByRole('dialog');
  await button.click();
  await dialog.getByRole('button', { name: 'Cancel' }).and(page.locator(':focus')).waitFor();
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'hidden' });
};
