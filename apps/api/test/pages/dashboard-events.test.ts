/** `/dashboard`, events: who receives what; the secret is shown once; the answers of endpoints; and each act. */
import { isDeep } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/http/api-error.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { hasBrowser, inspect, withBrowser } from './browser.ts';
import { ME } from './dashboard-records.ts';
import { eventHandlers, SECRET, SUBSCRIPTIONS, waitingDelivery } from './event-records.ts';
import { doesNothingByEnter, openDashboard } from './open-dashboard.ts';

const deployment = withOwnDeployment({
  SVC_WEBHOOK_KEYS: 'a-root-for-tests-that-is-long-enough-0',
});
const { visit } = withBrowser('event subscriptions on the dashboard');

const open = async (existing = SUBSCRIPTIONS, more: Parameters<typeof openDashboard>[1] | object = {}) => {
  const { handlers, asked } = eventHandlers(existing);
  const opened = await openDashboard(visit, {
    ...{ token: 'principal', me: ME.principal, handlers, view: 'events' },
    ...more,
  });
  const card = (i: number) => opened.page.getByRole('region', { name: `https://acme.example/hooks/${i}` });
  return { ...opened, asked, card, dialog: opened.page.getByRole('dialog') };
};
const ID = SUBSCRIPTIONS[0]?.subscription_id;

describe.skipIf(!hasBrowser)('event subscriptions on the dashboard', () => {
  it.runIf(isDeep)(
    'show a form for the first one; its secret is shown once, can be copied, and is not stored in the browser',
    async () => {
      const { page, asked } = await open([]);
      await page.getByText('Nobody is told of anything yet.').waitFor();
      await page.getByLabel('Endpoint').fill('https://10.0.0.1/hooks');
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.getByRole('alert').getByText('Choose at least one event.').waitFor();
      await page.getByLabel('little is left of a budget').check();
      await page.getByLabel('percent of the total').fill('10');
      await inspect(page, 'dashboard-events-new');
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await page.getByRole('alert').getByText('must be of a public host').waitFor();
      await page.getByLabel('Endpoint').fill('https://acme.example/hooks/0');
      await page.keyboard.press('Enter');
      const secret = page.getByRole('region', { name: 'Keep this secret now' });
      await secret.getByText(SECRET).waitFor();
      await inspect(page, 'dashboard-secret', 'none');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await secret.getByRole('button', { name: 'Copy the secret' }).click();
      await secret.getByText('Copied').waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(SECRET);
      expect(
        await page.evaluate('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])'),
      ).not.toContain('whsec');
      await secret.getByRole('button', { name: 'I have it' }).click();
      expect(await page.getByText(SECRET).count()).toBe(0);
      expect(asked.at(-1)).toEqual({
        create: { url: 'https://acme.example/hooks/0', types: ['budget.low'], budget_low_percent: 10 },
      });
    },
  );

  it.runIf(isDeep)('show their state, and each delivery with its answer', async () => {
    const { page, card, expectQuiet } = await open();
    await card(2).getByText('12 waiting.').waitFor();
    await card(1).getByText('Deliveries').click();
    await card(1).getByText('answered 503 (3 attempts)').waitFor();
    for (const one of [card(1), card(2)]) await one.getByText('made with API key 3fa1c09be742').waitFor();
    await card(1).getByText('no answer within 15 s (10 attempts)').waitFor();
    await inspect(page, 'dashboard-events');
    expectQuiet();
  });

  it.runIf(isDeep)('can be tested, with the answer shown, disabled and enabled', async () => {
    const { card, asked, expectQuiet } = await open();
    await card(1).getByRole('button', { name: 'Send a test' }).click();
    await card(1).getByRole('rowheader', { name: /^ping/ }).waitFor();
    await card(1).getByRole('button', { name: 'Disable' }).click();
    await card(1).getByText('Disabled by its owner.').waitFor();
    await card(1).getByRole('button', { name: 'Enable' }).click();
    await card(1).getByText('active', { exact: true }).waitFor();
    expect(asked).toEqual([{ test: ID }, { disable: ID }, { enable: ID }]);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'show the result of the latest delivery, and when the next attempt is or was due',
    async () => {
      const deliveries = [
        { dueInMs: 3_600_000, attempts: 2, says: 'the latest failed, and is tried again', when: 'next' },
        { dueInMs: -60_000, attempts: 0, says: 'the latest waits to be sent', when: 'due since' },
      ];
      for (const { dueInMs, attempts, says, when } of deliveries) {
        const due = new Date(Date.now() + dueInMs).toISOString();
        const { handlers } = eventHandlers(SUBSCRIPTIONS);
        const waiting = waitingDelivery(attempts, due);
        const listEventDeliveries: NonNullable<(typeof handlers)['listEventDeliveries']> = async () => ({
          status: 200,
          body: { deliveries: [waiting], next_cursor: null },
        });
        const { card } = await open(SUBSCRIPTIONS, { handlers: { ...handlers, listEventDeliveries } });
        await card(1).getByText(`Deliveries: ${says}`).click();
        await card(1)
          .getByText(`${when} ${due.slice(0, 10)} ${due.slice(11, 19)} UTC`)
          .waitFor();
      }
    },
  );

  it.runIf(isDeep)('refresh by themselves after a test until the answer is there', async () => {
    const { handlers } = eventHandlers(SUBSCRIPTIONS);
    const { listEventDeliveries: list } = handlers;
    let isAnswered = false;
    const listEventDeliveries: typeof list = async (input) =>
      isAnswered && list ? list(input) : { status: 200, body: { deliveries: [], next_cursor: null } };
    const { card, expectQuiet } = await open(SUBSCRIPTIONS, {
      handlers: { ...handlers, listEventDeliveries },
    });
    await card(1).getByText('Deliveries').click();
    await card(1).getByText('Nothing has been sent yet').waitFor();
    await card(1).getByRole('button', { name: 'Send a test' }).click();
    await card(1).getByText('This looks again by itself').waitFor();
    expect(await card(1).getByText('Nothing has been sent yet').count()).toBe(0);
    isAnswered = true;
    await card(1).getByRole('rowheader', { name: /^ping/ }).waitFor();
    await card(1).getByText('This looks again by itself').waitFor({ state: 'detached' });
    expectQuiet();
  });

  it.runIf(isDeep)(
    'can have their secret rotated, be replayed from a time, and be deleted after a confirmation',
    async () => {
      const { page, card, dialog, asked, expectQuiet } = await open();
      await card(1).getByRole('button', { name: 'Rotate the secret …' }).click();
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      const secret = page.getByRole('region', { name: 'Keep this secret now' });
      await secret.getByText('in force beside it until 2026-11-21 16:12:09 UTC').waitFor();
      await card(1).getByRole('button', { name: 'Replay …' }).click();
      const since = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 16);
      await dialog.getByLabel('From, in UTC').fill(since);
      await inspect(page, 'dashboard-replay');
      await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
      await dialog.waitFor({ state: 'hidden' });
      await card(1).getByRole('button', { name: 'Delete …' }).click();
      await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
      await card(1).waitFor({ state: 'detached' });
      // The secret is no longer used for signatures.
      expect(await secret.count()).toBe(0);
      expect(asked).toEqual([{ rotate: ID }, { replay: ID, since: expect.anything() }, { delete: ID }]);
      expect(new Date(String((asked[1] as { since: string }).since)).toISOString()).toBe(`${since}:00.000Z`);
      expectQuiet();
    },
  );

  it.runIf(isDeep)('ask before a replay, and Enter on the first focused button does nothing', async () => {
    const { page, card, asked } = await open();
    await doesNothingByEnter(page, card(1).getByRole('button', { name: 'Replay …' }));
    expect(asked).toEqual([]);
  });

  it('do not offer to repeat a rotation without an answer, but after a definite error', async () => {
    const { handlers, asked } = eventHandlers(SUBSCRIPTIONS);
    const { rotateEventSecret: rotate } = handlers;
    const { page, card, dialog } = await open(SUBSCRIPTIONS, {
      handlers: {
        ...handlers,
        rotateEventSecret: async (input) => {
          await rotate?.(input);
          throw new ApiError('SERVICE_UNAVAILABLE', 'Storage does not answer.');
        },
      },
    });
    const losses = [async () => {}, () => page.route('**/rotate', (route) => route.abort())];
    for (const lose of losses) {
      await lose();
      await card(1).getByRole('button', { name: 'Rotate the secret …' }).click();
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      await dialog.getByRole('alert').getByText('rotating again would end it at once').waitFor();
      expect(await dialog.getByRole('button').allTextContents()).toEqual(['Close']);
      await dialog.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'hidden' });
    }
    expect(asked).toEqual([{ rotate: ID }]);
    // After a definite answer the act may be tried again.
    await page.unroute('**/rotate');
    await page.route('**/rotate', (route) => route.fulfill({ status: 429, json: { message: 'Slow down.' } }));
    await card(1).getByRole('button', { name: 'Rotate the secret …' }).click();
    await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
    await dialog.getByRole('button', { name: 'Try again' }).waitFor();
  });

  it.runIf(isDeep)(
    'warn before a rotation when the answer of the last one was lost and the list could not be loaded since',
    async () => {
      const { page, card, dialog } = await open();
      const rotation = card(1).getByRole('button', { name: 'Rotate the secret …' });
      await rotation.click();
      // Another tab or user may have rotated it since the list was loaded.
      await dialog.getByText('One from an earlier rotation ends at once.').waitFor();
      for (const lost of ['**/rotate', '**/event-subscriptions'])
        await page.route(lost, (route) => route.abort());
      await dialog.getByRole('button', { name: 'Rotate', exact: true }).click();
      await dialog.getByRole('button', { name: 'Close' }).click();
      await dialog.waitFor({ state: 'hidden' });
      await page.getByRole('alert').waitFor();
      await rotation.click();
      await dialog.getByText('The latest rotation was not answered').waitFor();
      await dialog.getByText('One from an earlier rotation ends at once.').waitFor();
    },
  );

  it.runIf(isDeep)('warn that another rotation would end a secret that is still in force', async () => {
    const endsAt = '2026-11-21T16:12:09.000Z';
    const secrets = [
      { number: 2, ends_at: null },
      { number: 1, ends_at: endsAt },
    ];
    const { card, dialog } = await open(SUBSCRIPTIONS.map((one) => ({ ...one, secrets })));
    await card(1).getByText('the one before is in force until 2026-11-21 16:12:09 UTC').waitFor();
    await card(1).getByRole('button', { name: 'Rotate the secret …' }).click();
    await dialog.getByText('would end at once').waitFor();
  });

  it.runIf(isDeep)(
    'list a subscription whose creation was not answered, with a warning that nobody has seen its secret',
    async () => {
      const { handlers } = eventHandlers([]);
      const { createEventSubscription: create } = handlers;
      const { page, card } = await open([], {
        handlers: {
          ...handlers,
          createEventSubscription: async (input) => {
            await create?.(input);
            throw new ApiError('SERVICE_UNAVAILABLE', 'Storage does not answer.');
          },
        },
      });
      await page.getByLabel('Endpoint').fill('https://acme.example/hooks/0');
      await page.getByLabel('a request was denied').check();
      await page.getByRole('button', { name: 'Subscribe' }).click();
      await card(0).waitFor();
      await page.getByRole('alert').getByText('whose secret nobody has seen').waitFor();
    },
  );

  it.runIf(isDeep)('can be deleted by a retry when the answer of the first attempt was lost', async () => {
    const { handlers } = eventHandlers(SUBSCRIPTIONS);
    const { deleteEventSubscription: remove } = handlers;
    let isLost = true;
    const { card, dialog } = await open(SUBSCRIPTIONS, {
      handlers: {
        ...handlers,
        deleteEventSubscription: async (input) => {
          const done = await remove?.(input);
          if (isLost || done === undefined) {
            isLost = false;
            throw new ApiError('SERVICE_UNAVAILABLE', 'Storage does not answer.');
          }
          return done;
        },
      },
    });
    await card(1).getByRole('button', { name: 'Delete …' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await dialog.getByRole('button', { name: 'Try again' }).click();
    await card(1).waitFor({ state: 'detached' });
  });

  it('have no buttons that change anything for an org:read key', async () => {
    const { page, card } = await open(SUBSCRIPTIONS, { token: 'orgRead', me: ME.org });
    await card(1).getByText('accounting').waitFor();
    expect(await page.getByRole('button', { name: /test|Replay|Rotate|Disable|Delete|New/ }).count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser)('event subscriptions of a real service', () => {
  it('are created, tested, replayed, disabled and deleted; the secret is shown at creation', async () => {
    const { principalKey } = await deployment.createTenants();
    const { baseUrl } = deployment.process;
    const { page, expectQuiet } = await visit(baseUrl);
    const list = async () =>
      (await deployment.call('GET', '/event-subscriptions', { key: principalKey })).json.subscriptions;
    await page.goto(`${baseUrl}/dashboard#view=events`);
    await page.getByLabel(/^Key of/).fill(principalKey);
    await page.keyboard.press('Enter');
    await page.getByLabel('Endpoint').fill('https://hooks.acme.example/svc');
    await page.getByLabel('a request was denied').check();
    await page.getByRole('button', { name: 'Subscribe' }).click();
    const secret = page.getByRole('region', { name: 'Keep this secret now' });
    await secret.getByText(/^whsec_[A-Za-z0-9+/]{43}=$/).waitFor();
    expect(await list()).toMatchObject([{ url: 'https://hooks.acme.example/svc', types: ['decision.deny'] }]);
    const card = page.getByRole('region', { name: 'https://hooks.acme.example/svc' });
    await card.getByRole('button', { name: 'Send a test' }).click();
    // No worker runs here to deliver it.
    await card.getByText('This looks again by itself').waitFor();
    const dialog = page.getByRole('dialog');
    await card.getByRole('button', { name: 'Replay …' }).click();
    await dialog.getByRole('button', { name: 'Replay', exact: true }).click();
    await dialog.waitFor({ state: 'hidden' });
    await card.getByRole('button', { name: 'Disable' }).click();
    await card.getByText('Disabled by its owner.').waitFor();
    expect(await list()).toMatchObject([{ state: 'disabled' }]);
    await card.getByRole('button', { name: 'Delete …' }).click();
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
    await card.waitFor({ state: 'detached' });
    expect(await list()).toEqual([]);
    expectQuiet();
  });
});
