/** `/transparency`: the chain of days and the path of a Receipt to its root, recomputed in the tab. */

import { signedDays } from '@svc/testkit/receipts/signed-days';
import { serviceDocument } from '@svc/testkit/receipts/signed-receipts';
import { isDeep } from '@svc/testkit/sampled';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/http/api-error.ts';
import { hasBrowser, inspect, withBrowser } from './browser.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('the explorer');
const days = await signedDays();
const [busy] = days.filter(({ receiptIds }) => receiptIds.length > 1_000);
const receiptId = busy?.receiptIds[640] ?? '';
const PENDING = 'drc_01KAKT3Z5M8Q2R7V9X1C4E6H8K';
const REINSTATED = 'drc_01KAKT3Z5M8Q2R7V9X1C4E6H8M';
const NO_PROOF_LEFT = 'A restore put 2026-11-21 back without all of its leaves: no proof is left.';

/** Serves the pages with a log of this many days. */
const serve = (
  change: (record: object) => object,
  closed: typeof days,
  hasSandbox: boolean,
  didDocument: object = serviceDocument,
) => {
  const recordOf = (day: string | undefined) => closed.find(({ record }) => record.day === day)?.record;
  const answer = (record: object | undefined) => {
    if (record === undefined) throw new ApiError('NOT_FOUND', 'This day is not closed');
    return { status: 200 as const, body: change(record) as never };
  };
  const latest = closed.at(-1)?.record;
  const transparency = latest === undefined ? {} : { latest_day: latest.day, checkpoints: closed.length };
  return servePages({
    didDocument,
    hasSandbox,
    handlers: {
      // The part that the page reads.
      getMetrics: async () => ({ status: 200, body: { transparency } as never }),
      getCheckpoint: async ({ params }) => answer(recordOf(params.day)),
      getInclusion: async ({ params }) => {
        const day = closed.find(({ receiptIds }) => receiptIds.includes(params.receipt_id));
        if (params.receipt_id === PENDING)
          return { status: 202, body: { receipt_id: PENDING, day: '2026-11-20', status: 'pending' } };
        if (params.receipt_id === REINSTATED) throw new ApiError('NOT_FOUND', NO_PROOF_LEFT);
        return answer(day?.proofOf(params.receipt_id));
      },
      getAttestation: async () => {
        throw new ApiError('RATE_LIMITED', 'later');
      },
    },
  });
};

const open = async (
  fragment = '',
  change: (record: object) => object = (record) => record,
  closed = days,
  hasSandbox = false,
  didDocument?: object,
  hasFakeClock = false,
) => {
  const base = await serve(change, closed, hasSandbox, didDocument);
  const visited = await visit(base);
  if (hasFakeClock) await visited.page.clock.install();
  await visited.page.goto(`${base}/transparency${fragment}`);
  await visited.page.getByRole('heading', { name: 'Closed days', exact: true }).waitFor();
  return { ...visited, base };
};

const blocks = (page: Page) => page.locator('.block');
const sound = (page: Page) => page.locator('.block[data-state=ok]');

describe.skipIf(!hasBrowser)('the explorer', () => {
  it('shows the chain of days as signed and linked, and loads older days on demand', async () => {
    const { page, expectQuiet } = await open();
    await expect.poll(() => sound(page).count()).toBe(7);
    await page.getByRole('button', { name: 'Older days' }).click();
    await expect.poll(() => sound(page).count()).toBe(days.length);
    expect(await page.locator('.block-wrong').count()).toBe(0);
    const heard = await page.locator('.block summary .unseen').allTextContents();
    expect(heard.slice(0, -1).every((words) => words === 'signed, and linked to the day before')).toBe(true);
    expect(heard.at(-1)).toBe('signed, the first day');
    expect(await page.getByRole('link', { name: 'Playground' }).count()).toBe(0);
    await inspect(page, 'explorer');
    expectQuiet();
  });

  it.runIf(isDeep)('ignores older days that arrive after another day was opened', async () => {
    const { page, expectQuiet } = await open();
    await expect.poll(() => sound(page).count()).toBe(7);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const [first, , third] = days.map(({ record }) => record.day);
    await page.route(
      `**/checkpoints/${third}`,
      async (route) => {
        await released;
        await route.continue();
      },
      { times: 1 },
    );
    await page.getByRole('button', { name: 'Older days' }).click();
    await page.evaluate(`location.hash = 'day=${days[5]?.record.day}'`);
    await expect.poll(() => sound(page).count()).toBe(6);
    const late = page.waitForResponse(`**/checkpoints/${first}`);
    release();
    await (await late).finished();
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))');
    expect(await blocks(page).count()).toBe(6);
    expectQuiet();
  });

  it('looks up a Receipt, recomputes its path, and has a URL that shows the same after a reload', async () => {
    const { page, base, expectQuiet } = await open();
    await page.getByLabel('Receipt id').fill(receiptId);
    await page.keyboard.press('Enter');
    await page.getByText('it is Receipt 641 of 1,203').waitFor();
    await page.getByRole('img', { name: 'From leaf 641 of 1203 in 11 steps to the root' }).waitFor();
    expect(page.url()).toBe(`${base}/transparency#receipt=${receiptId}`);
    await inspect(page, 'explorer-proof', 'none');
    await page.reload();
    await page.getByText('it is Receipt 641 of 1,203').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement?.id')).toBe('content');
    expect(page.url()).toBe(`${base}/transparency#receipt=${receiptId}`);
    expectQuiet();
    await page.getByLabel('Receipt id').fill(REINSTATED);
    await page.keyboard.press('Enter');
    await page.getByText(NO_PROOF_LEFT).waitFor();
  });

  it.runIf(isDeep)('shows a proof with an ended key as undecided without an attestation', async () => {
    const { page } = await open(`#receipt=${receiptId}`, undefined, undefined, false, {
      ...serviceDocument,
      verificationMethod: serviceDocument.verificationMethod.map((method) => ({
        ...method,
        'svc:validUntil': '2026-11-10T00:00:00Z',
      })),
    });
    await page.getByText('Whether this proof holds could not be decided.').waitFor();
  });

  it('shows no proof while the DID document is unavailable, keeps the chain for five minutes, and can retry the same Receipt', async () => {
    const DID_DOCUMENT = '**/.well-known/did.json';
    const fragment = `#receipt=${receiptId}`;
    const { page } = await open(fragment, undefined, undefined, undefined, undefined, true);
    await page.getByText('it is Receipt 641 of 1,203').waitFor();
    await expect.poll(() => sound(page).count()).toBe(7);

    await page.route(DID_DOCUMENT, (route) => route.fulfill({ status: 503 }));
    await page.clock.fastForward(30_000);
    await page.getByLabel('Receipt id').fill(busy?.receiptIds[7] ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').getByText('the service answered 503').waitFor();
    expect(await page.getByText(/Proven in this tab|Asking for the proof/).count()).toBe(0);
    expect(await sound(page).count()).toBe(7);

    await page.unroute(DID_DOCUMENT);
    await page.getByRole('button', { name: 'Look up' }).click();
    await page.getByText('it is Receipt 8 of 1,203').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);

    // The request is never answered.
    await page.route(DID_DOCUMENT, () => {});
    await page.clock.fastForward(300_000);
    await page.getByText('Asking for the proof').waitFor();
    expect(await page.locator('[data-state=ok], .note-good').count()).toBe(0);
    expect(await blocks(page).count()).toBe(7);
  });

  it('shows a wrong proof as not valid, with the wrong part', async () => {
    const { page, expectQuiet } = await open(`#receipt=${receiptId}`, (record) =>
      'leaf_index' in record ? { ...record, leaf_index: 7 } : record,
    );
    await page.getByText('This proof does not hold.').waitFor();
    expect(await page.locator('[data-part=path]').getAttribute('data-state')).toBe('wrong');
    expectQuiet();
  });

  it.runIf(isDeep)('marks two days as wrong when the root of one was changed', async () => {
    const { page, expectQuiet } = await open('', (record) =>
      'day' in record && record.day === '2026-11-17'
        ? { ...record, root: `sha256:${'0'.repeat(64)}` }
        : record,
    );
    await expect.poll(() => page.locator('.block-wrong').count()).toBe(2);
    await inspect(page, 'explorer-broken');
    expectQuiet();
  });

  it('shows no day and no proof as valid when its worker cannot be loaded', async () => {
    const base = await serve((record) => record, days, false);
    const { page } = await visit(base);
    await page.route(/checks\.worker/, (route) => route.abort());
    await page.goto(`${base}/transparency#receipt=${receiptId}`);
    await page.getByText('could not be loaded').first().waitFor();
    expect(await page.locator('[data-state=ok], .note-good').count()).toBe(0);
  });

  it('says only that lost spans could not be read, and why, where the service does not answer them', async () => {
    const base = await serve((record) => record, days, false);
    const { page } = await visit(base);
    await page.route('**/restores', (route) => route.fulfill({ status: 429, json: { message: 'later' } }));
    await page.goto(`${base}/transparency`);
    await page.getByText('Whether anything was lost could not be read: later').waitFor();
    expect(await page.getByText('set back to a backup').count()).toBe(0);
  });

  it.runIf(isDeep)('opens the day in its URL', async () => {
    const { page, expectQuiet } = await open('#day=2026-11-14');
    await page.getByRole('region', { name: 'Payload of the checkpoint of 2026-11-14' }).waitFor();
    expectQuiet();
  });

  it.runIf(isDeep).each(['<b>', '2020-01-01', '2026-11-30'])(
    'shows the latest days for a URL with %s, which is not a closed day',
    async (day) => {
      const { page, expectQuiet } = await open(`#day=${day}`);
      await page.getByText(`${day} is no closed day`).waitFor();
      await expect.poll(() => blocks(page).count()).toBe(7);
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'says without a closed day when the first will be, and shows an example on demand',
    async () => {
      const { page, expectQuiet } = await open('', (record) => record, []);
      await page.getByText('No day is closed yet').waitFor();
      await page.getByText('gets its root shortly after midnight UTC').waitFor();
      await page.getByText('For each Receipt the way from it to the root').waitFor();
      await inspect(page, 'explorer-empty');
      await page.getByRole('button', { name: 'Show an example' }).click();
      await expect.poll(() => sound(page).count()).toBe(2);
      await page.locator('.block summary').first().click();
      await page.locator('.block').first().getByRole('link', { name: 'drc_' }).first().click();
      await page.getByText('it is Receipt 1 of 41').waitFor();
      await page.getByText('of the demonstration below, not of this service').waitFor();
      expect(await page.getByText('Of a service that does not exist').count()).toBe(1);
      expectQuiet();
    },
  );

  it.runIf(isDeep)('shows two marked example days at once in a sandbox without a closed day', async () => {
    const { page, base, expectQuiet } = await open('', (record) => record, [], true);
    await expect.poll(() => sound(page).count()).toBe(2);
    await page.getByText('Of a service that does not exist').waitFor();
    await page.getByText('gets its root shortly after midnight UTC').waitFor();
    expect(await page.getByRole('button', { name: 'Show an example' }).count()).toBe(0);
    // The markup before the script runs, which must not move.
    const markup = await (await fetch(`${base}/transparency`, { headers: { accept: 'text/html' } })).text();
    expect(markup).toMatch(/Find a Receipt.*Closed days.*Loading/s);
    expectQuiet();
  });

  it.runIf(isDeep)(
    'says that the day of a Receipt is not closed yet, and that a text is not a Receipt id',
    async () => {
      const { page, expectQuiet } = await open(`#receipt=${PENDING}`);
      await page.getByText('2026-11-20 is not closed yet').waitFor();
      await page.getByLabel('Receipt id').fill('hello');
      await page.keyboard.press('Enter');
      await page.getByText('This is not a Receipt id').waitFor();
      expectQuiet();
    },
  );
});
