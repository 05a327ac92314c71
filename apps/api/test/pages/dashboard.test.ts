/** `/dashboard`: what a key may see is shown; the key stays in the tab; a decision opens with its outcome ledger. */

import { readFileSync } from 'node:fs';
import { portableCrypto, sha256Of } from '@svc/protocol';
import { signDay } from '@svc/testkit/receipts/signed-days';
import {
  bodyOf,
  SERVICE,
  serviceDocument,
  signedReceipt,
  signerOf,
} from '@svc/testkit/receipts/signed-receipts';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import { signAttestation } from '@svc/transparency';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { TOKENS } from '../world/http-fixture.ts';
import { hasBrowser, inspect, NARROW, withBrowser } from './browser.ts';
import { attestations, DECISIONS, listDecisions, ME, statsFor, usageFor } from './dashboard-records.ts';
import { type Served, servePages } from './serve.ts';

const { visit } = withBrowser('the dashboard');
const receipt = await signedReceipt(bodyOf('allow-purchase'));
/** The service's clock, which differs much from the browser's. */
const SERVICE_TIME = '2026-11-20T08:00:00.000Z';

const open = async (
  token: keyof typeof TOKENS,
  role: keyof typeof ME,
  handlers: NonNullable<Served['handlers']> = {},
  shows = 'Verifies per day',
) => {
  const base = await servePages({
    didDocument: serviceDocument,
    handlers: {
      getMe: async () => ({ status: 200, body: ME[role], headers: { 'Svc-Time': SERVICE_TIME } }),
      getUsage: async ({ query }) => ({ status: 200, body: usageFor(query.since, query.until) }),
      getDecisionStats: async ({ query }) => ({ status: 200, body: statsFor(query.since, query.until) }),
      listDecisions: async ({ query }) => ({ status: 200, body: listDecisions(query) }),
      getDecision: async () => ({ status: 200, body: { receipt: receipt as never, outcomes: attestations } }),
      ...handlers,
    },
  });
  const visited = await visit(base);
  await visited.page.goto(`${base}/dashboard`);
  await visited.page.getByLabel(/^Key of/).fill(TOKENS[token]);
  await visited.page.getByRole('button', { name: 'Open' }).click();
  await visited.page.getByRole('heading', { name: shows }).waitFor();
  return { ...visited, base };
};

/** An answer that waits until it is released. */
const held = () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { release, released };
};

const noDecisions: NonNullable<Served['handlers']> = {
  getUsage: async ({ query }) => {
    const totals = { verifies: 0, allow: 0, deny: 0 };
    return { status: 200, body: { ...usageFor(query.since, query.until), totals, days: [] } };
  },
};

const rows = (page: Page) => page.locator('.decision');

describe.skipIf(!hasBrowser)('the dashboard of a relying party', () => {
  it.runIf(isDeep)(
    'shows verifies per day, reasons of denials and the latest decisions, with filters',
    async () => {
      const { page, expectQuiet } = await open('rp', 'rp');
      await page.getByRole('img', { name: /^Bars of 30 days/ }).waitFor();
      await page.getByText('AMOUNT_EXCEEDS_AUTHORITY').first().waitFor();
      await expect.poll(() => rows(page).count()).toBe(20);
      await inspect(page, 'dashboard');
      await page.getByRole('button', { name: 'Older' }).click();
      await expect.poll(() => rows(page).count()).toBe(DECISIONS.length);
      await page.getByRole('combobox', { name: 'Decision' }).selectOption('DENY');
      await expect.poll(() => rows(page).locator('.badge-good').count()).toBe(0);
      await page.getByText('7 days').click();
      await page.getByRole('img', { name: /^Bars of 7 days/ }).waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'follows empty pages, and after many of them says that none were found so far',
    async () => {
      // Old decisions: empty pages whose cursor goes on.
      const inVain = (pages: number): NonNullable<NonNullable<Served['handlers']>['listDecisions']> => {
        let asked = 0;
        return async ({ query }) => {
          asked += 1;
          const body =
            asked > pages
              ? listDecisions({ ...query, cursor: undefined })
              : { decisions: [], next_cursor: `${asked}` };
          return { status: 200, body };
        };
      };
      const few = await open('rp', 'rp', { listDecisions: inVain(3) });
      await expect.poll(() => rows(few.page).count()).toBe(20);
      const many = await open('rp', 'rp', { listDecisions: inVain(15) });
      await many.page.getByText('None found so far').waitFor();
      expect(await many.page.getByText('No decision fits').count()).toBe(0);
      await many.page.getByRole('button', { name: 'Older' }).click();
      await expect.poll(() => rows(many.page).count()).toBe(20);
    },
  );

  it('opens a decision with its verified Receipt and its outcome ledger, and closes it on Escape', async () => {
    const { page, expectQuiet } = await open('rp', 'rp');
    await page.setViewportSize(NARROW);
    await rows(page).getByText('https://api.shop.example/v1/orders/').first().waitFor();
    // Text that is wider than its line would be cut off.
    const cut =
      "[...document.querySelectorAll('.decision-action')].filter((one) => one.scrollWidth > one.clientWidth)";
    expect(await page.evaluate(`${cut}.length`)).toBe(0);
    await rows(page).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('checked in this tab: valid').waitFor();
    await drawer.getByText('loss reported').waitFor();
    await inspect(page, 'dashboard-decision');
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    expectQuiet();
  });

  it.runIf(isDeep)('opens a decision from a link, and downloads its bundle', async () => {
    const bundle = { receipt: 'and all that it rests on' };
    const { page, base, expectQuiet } = await open('rp', 'rp', {
      getBundle: async () => ({ status: 200, body: bundle as never }),
    });
    await page.goto('about:blank');
    await page.goto(`${base}/dashboard#decision=${receipt.receipt_id}`);
    const drawer = page.getByRole('dialog');
    await drawer.getByText('checked in this tab: valid').waitFor();
    const downloading = page.waitForEvent('download');
    await drawer.getByRole('button', { name: 'Download the bundle' }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${receipt.receipt_id}.bundle.json`);
    expect(JSON.parse(readFileSync(await download.path(), 'utf8'))).toEqual(bundle);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'reports an outcome with the time of the service, and nothing if that is unknown',
    async () => {
      const reported: unknown[] = [];
      let headers = {};
      const { page, expectQuiet } = await open('rp', 'rp', {
        getMe: async () => ({ status: 200, body: ME.rp, headers }),
        reportOutcome: async ({ body }) => {
          reported.push(body);
          return { status: 201, body: attestations[0] as never };
        },
      });
      await rows(page).first().click();
      const drawer = page.getByRole('dialog');
      await drawer.getByText('Report what became of it').click();
      await drawer.getByLabel('What happened').selectOption('Loss');
      await drawer.getByLabel('Amount in minor units').fill('4200');
      await drawer.getByLabel('Currency').fill('USD');
      await drawer.getByRole('button', { name: 'Record it' }).click();
      await drawer
        .getByRole('alert')
        .getByText('does not say what time it is, so nothing was recorded')
        .waitFor();
      headers = { 'Svc-Time': SERVICE_TIME };
      await drawer.getByRole('button', { name: 'Record it' }).click();
      await drawer.getByText('Recorded.').waitFor();
      expect(reported).toEqual([
        {
          type: 'loss_reported',
          occurred_at: SERVICE_TIME,
          loss_amount: 4200,
          currency: 'USD',
        },
      ]);
      expectQuiet();
    },
  );

  it('records an outcome once on a double click, dated by the clock of the service', async () => {
    const reported: unknown[] = [];
    const answer = held();
    const { page, expectQuiet } = await open('rp', 'rp', {
      reportOutcome: async ({ query, body }) => {
        reported.push([query.subject, body.occurred_at]);
        await answer.released;
        return { status: 201, body: attestations[0] as never };
      },
    });
    await rows(page).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Report what became of it').click();
    await drawer.getByRole('button', { name: 'Record it' }).dblclick();
    await drawer.getByRole('button', { name: 'Being recorded' }).click({ force: true });
    answer.release();
    await drawer.getByText('Recorded.').waitFor();
    expect(reported).toEqual([[undefined, SERVICE_TIME]]);
    expectQuiet();
  });

  const unanswered: [string, (page: Page) => Promise<unknown>][] = [
    ['a 503', (page: Page) => page.route('**/outcomes', (route) => route.fulfill({ status: 503, json: {} }))],
    ['no answer', (page: Page) => page.route('**/outcomes', (route) => route.abort())],
  ];
  it.each(sampleOf(unanswered, 1))('reads the ledger again after %s to a report', async (_, fail) => {
    let asked = 0;
    const { page } = await open('rp', 'rp', {
      getDecision: async () => {
        asked += 1;
        return { status: 200, body: { receipt: receipt as never, outcomes: attestations.slice(0, asked) } };
      },
      reportOutcome: async () => ({ status: 201, body: attestations[0] as never }),
    });
    await fail(page);
    await rows(page).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('1 reported').waitFor();
    await drawer.getByText('Report what became of it').click();
    await drawer.getByRole('button', { name: 'Record it' }).click();
    await drawer.getByRole('alert').getByText('It may have been recorded all the same').waitFor();
    await drawer.getByText('2 reported').waitFor();
    // A ledger that cannot be loaded does not remove a message or typed text.
    await page.route(/\/decisions\/drc_[^/]+$/, (route) => route.abort());
    await drawer.getByLabel('Note, if any').fill('Late.');
    await drawer.getByRole('button', { name: 'Record it' }).click();
    await drawer.getByText('Not read again').waitFor();
    await drawer.getByRole('alert').getByText('It may have been recorded all the same').waitFor();
    expect(await drawer.getByLabel('Note, if any').inputValue()).toBe('Late.');
    await page.unroute('**/outcomes');
    const unread = page.waitForEvent('requestfailed');
    await drawer.getByRole('button', { name: 'Record it' }).click();
    await unread;
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await drawer.getByText('Recorded.').count()).toBe(1);
    expect(await drawer.getByText('2 reported').count()).toBe(1);
  });

  it('ignores a late page of an earlier filter', async () => {
    const late = held();
    const { page, expectQuiet } = await open('rp', 'rp', {
      listDecisions: async ({ query }) => {
        if (query.cursor !== undefined) await late.released;
        return { status: 200, body: listDecisions(query) };
      },
    });
    await expect.poll(() => rows(page).count()).toBe(20);
    const older = page.waitForResponse(/cursor=/);
    await page.getByRole('button', { name: 'Older' }).click();
    await page.getByRole('combobox', { name: 'Decision' }).selectOption('DENY');
    await expect.poll(() => rows(page).count()).toBeLessThan(20);
    const denied = await rows(page).count();
    late.release();
    await (await older).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect([await rows(page).count(), await rows(page).locator('.badge-good').count()]).toEqual([denied, 0]);
    expectQuiet();
  });

  it('opens the decision and sets the filters of an address that is entered while decisions are shown', async () => {
    const asked: unknown[] = [];
    const { page, expectQuiet } = await open('rp', 'rp', {
      listDecisions: async ({ query }) => {
        asked.push(query.grant_id);
        return { status: 200, body: listDecisions(query) };
      },
    });
    const drawer = page.getByRole('dialog');
    // A second time after it was closed, too.
    for (let i = 0; i < 2; i++) {
      await page.evaluate(`location.hash = 'decision=${receipt.receipt_id}'`);
      await drawer.getByText('checked in this tab: valid').waitFor();
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
    }
    const grant = DECISIONS[0]?.grant_id;
    await page.evaluate(`location.hash = 'view=decisions&grant_id=${grant}'`);
    await expect.poll(() => asked.at(-1)).toBe(grant);
    expect(await page.getByRole('textbox', { name: 'Grant' }).inputValue()).toBe(grant);
    expectQuiet();
  });

  it('shows the note of an outcome within the drawer, from left to right, with its invisible characters', async () => {
    const note = `${'W'.repeat(300)}\nSent \u202eback`;
    const { page, expectQuiet } = await open('rp', 'rp', {
      getDecision: async () => ({
        status: 200,
        body: { receipt: receipt as never, outcomes: attestations.map((one) => ({ ...one, note })) },
      }),
    });
    await page.setViewportSize(NARROW);
    await rows(page).first().click();
    const drawer = page.getByRole('dialog');
    const shown = drawer.locator('.ledger bdo[dir=ltr]').first();
    await shown.getByText('Sent \\u{202e}back').waitFor();
    expect(await drawer.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
    expect(await shown.textContent()).toBe(`${'W'.repeat(300)}\nSent \\u{202e}back`);
    expectQuiet();
  });

  it.runIf(isDeep)('opens a linked decision for a key without decisions in the last 30 days', async () => {
    const { page, base, expectQuiet } = await open('rp', 'rp', noDecisions, 'No decision in these 30 days');
    await page.goto('about:blank');
    await page.goto(`${base}/dashboard#decision=${receipt.receipt_id}`);
    await page.getByRole('heading', { name: 'No decision in these 30 days', includeHidden: true }).waitFor();
    await page.getByRole('dialog').getByText('checked in this tab: valid').waitFor();
    expectQuiet();
  });

  describe('with a Receipt whose key has leaked since', () => {
    const leakedDocument = {
      ...serviceDocument,
      verificationMethod: serviceDocument.verificationMethod.map((one) =>
        one.id.endsWith('#receipt-1') ? { ...one, revoked: '2026-12-01T00:00:00Z' } : one,
      ),
    };
    const { receipt_id: id } = receipt;
    const dayMs = Date.parse(`${receipt.evaluated_at.slice(0, 10)}T00:00:00Z`);
    const openDrawer = async (handlers: NonNullable<Served['handlers']>) => {
      const { page, expectQuiet } = await open('rp', 'rp', {
        getServiceDidDocument: async () => ({
          ...{ status: 200, contentType: 'application/did+json' },
          rawBody: JSON.stringify(leakedDocument),
        }),
        ...handlers,
      });
      await rows(page).first().click();
      return { drawer: page.getByRole('dialog'), expectQuiet };
    };

    it('shows the Receipt as undecided while its day is open', async () => {
      const pending = {
        ...{ status: 202 as const },
        body: { receipt_id: id, day: receipt.evaluated_at.slice(0, 10), status: 'pending' as const },
      };
      const { drawer, expectQuiet } = await openDrawer({
        getInclusion: async () => pending,
        getAttestation: async () => pending,
      });
      await drawer.getByText('Undecided: the key that signed this Receipt').waitFor();
      expect(await drawer.getByText('Do not rely on it').count()).toBe(0);
      expectQuiet();
    });

    it.runIf(isDeep)(
      'shows the Receipt as valid by its inclusion and the attestation once its day is closed',
      async () => {
        const { day } = await signDay(dayMs, [id], null);
        const attestation = await signAttestation(
          {
            ...{ iss: SERVICE, receipt_id: id, iat: Date.UTC(2026, 11, 2) / 1000 },
            receipt_hash: sha256Of(portableCrypto, receipt.receipt),
            checkpoint_hash: sha256Of(portableCrypto, day.record.checkpoint),
          },
          signerOf(2, `${SERVICE}#status-1`),
        );
        const { drawer, expectQuiet } = await openDrawer({
          getInclusion: async () => ({ status: 200, body: day.proofOf(id) }),
          getAttestation: async () => ({ status: 200, body: { receipt_id: id, attestation } as never }),
        });
        await drawer.getByText('checked in this tab: valid').waitFor();
        expectQuiet();
      },
    );
  });

  it.runIf(isDeep)('shows how to get the first decision where there is none', async () => {
    const { page, expectQuiet } = await open('rp', 'rp', noDecisions, 'No decision in these 30 days');
    await page.getByRole('link', { name: 'POST /verify' }).waitFor();
    await inspect(page, 'dashboard-empty');
    expectQuiet();
  });

  it.runIf(isDeep)('says when the service returns the Receipt of another decision', async () => {
    const { page, expectQuiet } = await open('rp', 'rp');
    await rows(page).nth(1).click();
    await page.getByRole('dialog').getByText('not the Receipt of this decision').waitFor();
    expectQuiet();
  });

  it('keeps the key in the tab: after a reload, but not in another tab, and until it is forgotten', async () => {
    const { page, base } = await open('rp', 'rp');
    const sent: string[] = [];
    page.on('request', (request) => sent.push(`${request.url()} ${request.headers().referer ?? ''}`));
    await page.reload();
    await page.getByRole('heading', { name: 'Verifies per day' }).waitFor();
    const other = await page.context().newPage();
    await other.goto(`${base}/dashboard`);
    await other.getByLabel(/^Key of/).waitFor();
    expect(await page.evaluate('document.cookie + JSON.stringify(localStorage)')).toBe('{}');
    expect(
      `${sent.join()} ${page.url()} ${await page.evaluate('JSON.stringify(history.state)')}`,
    ).not.toContain(TOKENS.rp);
    await page.getByRole('button', { name: 'Forget the key' }).click();
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}');
  });

  it('keeps the key when the decisions of the playground are closed, and shows those of the key again', async () => {
    const { page, base, expectQuiet } = await open('rp', 'rp');
    const { action_type: type, amount, currency, resource } = DECISIONS[0] ?? {};
    const played = JSON.stringify([{ receipt, action: { type, amount, currency, resource } }]);
    await page.evaluate(`sessionStorage.setItem('svc-playground', ${JSON.stringify(played)})`);
    await page.goto('about:blank');
    await page.goto(`${base}/dashboard#playground`);
    await page.getByRole('heading', { name: 'What you tried in the playground' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('heading', { name: ME.rp.name }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: ME.rp.name }).waitFor();
    expectQuiet();
  });

  it('moves the focus from the form to the heading of what the key opened', async () => {
    const { page } = await open('rp', 'rp');
    await page.getByRole('heading', { name: ME.rp.name }).and(page.locator(':focus')).waitFor();
  });
});

describe.skipIf(!hasBrowser)('the dashboard', () => {
  it.runIf(isDeep)(
    'shows a Principal the decisions on its Grants at all relying parties, filters them, and has no outcome form',
    async () => {
      const asked: unknown[] = [];
      const { page, expectQuiet } = await open('principal', 'principal', {
        getDecisionStats: async () => Promise.reject(new Error('of relying parties')),
        listDecisions: async () => Promise.reject(new Error('of relying parties')),
        getPrincipalDecisionStats: async ({ query }) => ({
          status: 200,
          body: statsFor(query.since, query.until),
        }),
        listPrincipalDecisions: async ({ params, query }) => {
          asked.push([params.did, query.rp]);
          return { status: 200, body: listDecisions(query) };
        },
        getPrincipalDecision: async () => ({
          status: 200,
          body: { receipt: receipt as never, outcomes: attestations },
        }),
      });
      await expect.poll(() => rows(page).count()).toBe(20);
      await page.getByText('ALLOW with an outcome').waitFor();
      await rows(page)
        .first()
        .getByText(DECISIONS[0]?.rp ?? '')
        .waitFor();
      await page.getByRole('textbox', { name: 'Relying party' }).fill('did:web:svc.test:rp:shop');
      await page.keyboard.press('Enter');
      const did = ME.principal.subject;
      await expect
        .poll(() => asked)
        .toEqual([
          [did, undefined],
          [did, 'did:web:svc.test:rp:shop'],
        ]);
      await rows(page).first().click();
      const drawer = page.getByRole('dialog');
      await drawer.getByText('checked in this tab: valid').waitFor();
      expect(await drawer.getByText('Report what became of it').count()).toBe(0);
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'keeps the key when the service is unreachable, and works after a later reload',
    async () => {
      const { page } = await open('rp', 'rp');
      await page.route('**/me', (route) => route.abort());
      await page.reload();
      await page.getByRole('alert').getByText('did not answer').waitFor();
      await page.unroute('**/me');
      await page.reload();
      await page.getByRole('heading', { name: 'Verifies per day' }).waitFor();
    },
  );

  it.runIf(isDeep)('shows an observer counts, and why there are no decisions', async () => {
    const { page, expectQuiet } = await open('observer', 'observer');
    await page.getByText('An observer key reads counts').waitFor();
    expect(await rows(page).count()).toBe(0);
    expectQuiet();
  });

  it.runIf(isDeep)('shows an org the decisions of its relying parties', async () => {
    const { page, expectQuiet } = await open('orgRead', 'org');
    await page.getByRole('heading', { name: 'Acme' }).waitFor();
    await expect.poll(() => rows(page).count()).toBe(20);
    expectQuiet();
  });

  it.runIf(isDeep)('reports an outcome of an org for the relying party that the Receipt names', async () => {
    const reported: unknown[] = [];
    const { page, expectQuiet } = await open('orgAdmin', 'orgAdmin', {
      reportOutcome: async ({ query }) => {
        reported.push(query.subject);
        return { status: 201, body: attestations[0] as never };
      },
    });
    await rows(page).first().click();
    const drawer = page.getByRole('dialog');
    await drawer.getByText('Report what became of it').click();
    await drawer.getByRole('button', { name: 'Record it' }).click();
    await drawer.getByText('Recorded.').waitFor();
    expect(reported).toEqual([receipt.relying_party]);
    expectQuiet();
  });

  it.runIf(isDeep)('does not send a text that cannot be a key, and explains the keys', async () => {
    const base = await servePages({ didDocument: serviceDocument });
    const { page, expectQuiet } = await visit(base);
    await page.goto(`${base}/dashboard`);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByLabel(/^Key of/).fill('lCj67pEJMV7ix6f3V26I0AQx1hQmqDeZQU5xHOxdtCo');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('The admin token makes keys').waitFor();
    expect(asked).toEqual([]);
    expectQuiet();
  });

  it.runIf(isDeep)('shows an error for an unknown key', async () => {
    const base = await servePages({ didDocument: serviceDocument });
    const { page } = await visit(base);
    await page.goto(`${base}/dashboard`);
    await page.getByLabel(/^Key of/).fill('dk_rp_nobody');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await inspect(page, 'dashboard-key');
  });

  it.runIf(isDeep)('shows an error when its script cannot be loaded', async () => {
    const base = await servePages({
      didDocument: serviceDocument,
      handlers: { getMe: async () => ({ status: 200, body: ME.rp }) },
    });
    const { page } = await visit(base);
    await page.route(/\/overview-/, (route) => route.abort());
    await page.goto(`${base}/dashboard`);
    await page.getByLabel(/^Key of/).fill(TOKENS.rp);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('could not be loaded').waitFor();
  });
});
