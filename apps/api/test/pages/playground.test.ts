/** `/playground`: the first ALLOW takes one click, and each way to cheat fails at its own check. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { freshAddress } from '../world/contract-call.ts';
import { withSeparateNodes } from '../world/deployment.ts';
import { hasBrowser, inspect, withBrowser } from './browser.ts';

const deployment = withSeparateNodes({ SVC_DEMO: '1' });
const { visit } = withBrowser('the playground');

/** Opens it from a new address each time, so that rate limits count anew. */
const open = async (options: { motion?: boolean } = {}) => {
  const { baseUrl: base } = deployment.process;
  const visited = await visit(base, {
    permissions: ['clipboard-read', 'clipboard-write'],
    extraHTTPHeaders: { 'x-forwarded-for': freshAddress() },
    ...(options.motion === true && { reducedMotion: 'no-preference' as const }),
  });
  await visited.page.goto(`${base}/playground`);
  await visited.page.getByRole('button', { name: 'Ask the service' }).waitFor();
  return { ...visited, base };
};

const hasShell = ['/bin/sh', '/usr/bin/curl', '/usr/bin/jq'].every((path) => existsSync(path));
if (!hasShell) console.warn('SKIPPED: the playground’s curl in a shell, because there is no curl or no jq');

/** Pastes the copied commands into a shell; resolves with their output. */
const runInShell = async (page: Page): Promise<string> => {
  const command = await page.locator('[aria-label=curl] pre').textContent();
  return (await promisify(execFile)('/bin/sh', ['-c', command ?? ''])).stdout;
};

describe.skipIf(!hasBrowser)('the playground', () => {
  it('shows an ALLOW after the first click, and checks its Receipt in the tab', async () => {
    const { page, expectQuiet } = await open();
    await inspect(page, 'playground-start', 'none');
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.getByText('Every check passed.').waitFor();
    await page.getByText('this tab has checked the signature').waitFor();
    expect(await page.locator('.check-ok').count()).toBe(24);
    if (hasShell) expect(await runInShell(page)).toContain('"decision":"ALLOW"');
    await inspect(page, 'playground-allow');
    expectQuiet();
  });

  it('shows a decision as not proven until its Receipt is checked', async () => {
    const { page, expectQuiet } = await open();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route(/\.well-known\/did\.json$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.getByText('Every check passed.').waitFor();
    const decision = page.getByRole('region', { name: 'Decision' });
    await decision.getByText('Not proven').waitFor();
    await decision.getByText('claims ALLOW').waitFor();
    release();
    await page.getByText('this tab has checked the signature').waitFor();
    await decision.getByText('Not proven').waitFor({ state: 'detached' });
    expectQuiet();
  });

  const cheats: [string, string, string][] = [
    ['Changed action', 'P14', 'PROOF_ACTION_MISMATCH'],
    ['Amount above authority', 'P19', 'AMOUNT_EXCEEDS_AUTHORITY'],
    ['Other audience', 'P9', 'PROOF_SIGNATURE_INVALID'],
    ['Replay', 'T5', 'PROOF_REPLAYED'],
    ['Revoked Grant', 'P6', 'AUTHORITY_REVOKED'],
  ];
  it.each(sampleOf(cheats, 1))(
    'denies the attempt "%s" at check %s with %s',
    async (cheat, check, reason) => {
      const { page, expectQuiet } = await open();
      await page.getByRole('button', { name: cheat }).click();
      await page.locator('.decided').getByText(reason).waitFor();
      expect(await page.locator('.check-wrong .check-id').allTextContents()).toEqual([check]);
      await page.getByText('this tab has checked the signature').waitFor();
      if (hasShell) expect(await runInShell(page)).toContain(`"reason":"${reason}"`);
      if (cheat === 'Changed action') await inspect(page, 'playground-deny', 'none');
      expectQuiet();
    },
  );

  it.runIf(isDeep)(
    'shows an approval in steps: DENY, pending, approved, ALLOW, DENY; the focus stays on the button',
    async () => {
      const { page, expectQuiet } = await open();
      const story = page.getByRole('region', { name: 'Or ask first' });
      await story.getByRole('button', { name: 'Buy above the limit' }).focus();
      const steps = [
        ['The Agent buys above the limit', 'DENY'],
        ['The shop asks the Principal', 'pending'],
        ['You approve as the Principal', 'approved'],
        ['The Agent comes with the new Grant', 'ALLOW'],
        ['The Agent comes once more', 'DENY'],
      ] as const;
      for (const [i, [title, word]] of steps.entries()) {
        await page.keyboard.press('Enter');
        const step = story.getByRole('listitem').nth(i);
        await step.getByRole('heading', { name: title }).waitFor();
        expect(await step.locator('.badge').textContent()).toBe(word);
        expect(await page.evaluate('document.activeElement?.className')).toContain('button-main');
      }
      expect(await story.getByRole('link', { name: 'the page for approvals' }).getAttribute('href')).toBe(
        'approve',
      );
      const approved = story.getByRole('listitem').nth(2);
      await approved.getByText('See the answer').click();
      await approved.getByText('"maxUses": 1').waitFor();
      await inspect(page, 'playground-approval');
      await story.getByRole('link', { name: 'Verify this Receipt' }).nth(1).click();
      await page.getByText('ALLOW').first().waitFor();
      expectQuiet();
    },
  );

  it.runIf(isDeep)('denies an amount above the limit with AMOUNT_EXCEEDS_AUTHORITY', async () => {
    const { page } = await open();
    await page.getByRole('slider', { name: 'Amount' }).press('End');
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.locator('.decided').getByText('AMOUNT_EXCEEDS_AUTHORITY').waitFor();
  });

  it.runIf(isDeep)('shows the checks one after the other where reduced motion is not requested', async () => {
    const { page, expectQuiet } = await open({ motion: true });
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.locator('.check-waiting').first().waitFor();
    await page.locator('.check-ok').first().waitFor();
    await page.getByText('Every check passed.').waitFor();
    expectQuiet();
  });

  it.runIf(isDeep)(
    'links to its decisions in the dashboard, which open without a key; the focus stays on the button',
    async () => {
      const { page, expectQuiet } = await open();
      await page.getByRole('button', { name: 'Replay' }).focus();
      await page.keyboard.press('Enter');
      await page.locator('.decided').getByText('PROOF_REPLAYED').waitFor();
      expect(await page.evaluate('document.activeElement?.textContent')).toContain('Replay');
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(/\/overview-/, async (route) => {
        await held;
        await route.continue();
      });
      const asked = page.waitForRequest(/\/overview-/);
      await page.getByRole('link', { name: 'See it in the dashboard' }).click();
      await asked;
      expect(await page.getByLabel(/^Key of/).isVisible()).toBe(false);
      release();
      await page.getByRole('heading', { name: 'What you tried in the playground' }).waitFor();
      await page.locator('.decision').first().click();
      await page.getByRole('dialog').getByText('checked in this tab: valid').waitFor();
      expectQuiet();
    },
  );

  it.each(['Ask the service', 'Buy above the limit'])(
    '"%s" works although the first call of the page failed',
    async (name) => {
      const { baseUrl: base } = deployment.process;
      const { page } = await visit(base, { extraHTTPHeaders: { 'x-forwarded-for': freshAddress() } });
      await page.route('**/demo/info', (route) => route.abort(), { times: 1 });
      await page.goto(`${base}/playground`);
      await page.getByRole('alert').getByText('did not answer').waitFor();
      await page.getByRole('button', { name }).click();
      await page.getByText(/^Every check passed|^The Agent buys above the limit/).waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    },
  );

  it('keeps every stage of the checks in its column while one of them is open', async () => {
    const { page } = await open();
    const columns = `[...document.querySelectorAll('.stage')].map((one) => one.getBoundingClientRect().x)`;
    const before = await page.evaluate(columns);
    const moved = await page.evaluate(`[...document.querySelectorAll('.check')].filter((one) => {
      one.open = true;
      const isMoved = JSON.stringify(${columns}) !== ${JSON.stringify(JSON.stringify(before))};
      one.open = false;
      return isMoved;
    }).length`);
    expect(moved).toBe(0);
    expect(new Set(before as number[]).size).toBe(3);
  });

  it.runIf(isDeep)('copies the calls as curl and as TypeScript', async () => {
    const { page, base } = await open();
    await page.getByRole('button', { name: 'Revoked Grant' }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toContain(`curl -sS '${base}/demo/revoke'`);
    await page.getByRole('button', { name: 'Copy as TypeScript' }).click();
    await expect.poll(copied).toContain(`const base = '${base}/';`);
  });

  it.runIf(isDeep)('and the other pages work without errors on a service without decisions', async () => {
    const { page, base, expectQuiet } = await open();
    await page.goto(`${base}/transparency`);
    await page.getByText('No day is closed yet').waitFor();
    for (const name of ['Verify', 'Dashboard', 'Playground']) await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Ask the service' }).waitFor();
    expectQuiet();
  });

  it('works with the keyboard only', async () => {
    const { page } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate('document.activeElement?.textContent');
    for (let i = 0; i < 20 && (await focused()) !== 'Ask the service'; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Every check passed.').waitFor();
  });
});
