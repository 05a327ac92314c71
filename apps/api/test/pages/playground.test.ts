/** `/playground`: the first ALLOW is one click away, and every way to cheat is stopped by its own check. */
import { describe, expect, it } from 'vitest';
import { hasBrowser, inspect, withBrowser } from './browser.ts';
import { answerSandbox, serviceDocument } from './sandbox.ts';
import { servePages } from './serve.ts';

const { visit } = withBrowser('the playground');

const open = async (options: { motion?: boolean } = {}) => {
  const base = await servePages({ didDocument: serviceDocument });
  const visited = await visit(base, {
    permissions: ['clipboard-read', 'clipboard-write'],
    ...(options.motion === true && { reducedMotion: 'no-preference' as const }),
  });
  await answerSandbox(visited.page);
  await visited.page.goto(`${base}/playground`);
  await visited.page.getByRole('button', { name: 'Ask the service' }).waitFor();
  return { ...visited, base };
};

describe.skipIf(!hasBrowser)('the playground', () => {
  it('answers the first click with an ALLOW whose Receipt is checked in the tab', async () => {
    const { page, expectQuiet } = await open();
    await inspect(page, 'playground-start');
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.getByText('Every check passed.').waitFor();
    await page.getByText('this tab has checked the signature').waitFor();
    expect(await page.locator('.check-ok').count()).toBe(24);
    await inspect(page, 'playground-allow');
    expectQuiet();
  });

  it.each([
    ['Amount above authority', 'P19', 'AMOUNT_EXCEEDS_AUTHORITY'],
    ['Other audience', 'P9', 'PROOF_SIGNATURE_INVALID'],
    ['Changed action', 'P14', 'PROOF_ACTION_MISMATCH'],
    ['Replay', 'T5', 'PROOF_REPLAYED'],
    ['Revoked Grant', 'P6', 'AUTHORITY_REVOKED'],
  ])('%s is stopped by %s: %s', async (cheat, check, reason) => {
    const { page, expectQuiet } = await open();
    await page.getByRole('button', { name: cheat }).click();
    await page.locator('.decided').getByText(reason).waitFor();
    expect(await page.locator('.check-wrong .check-id').allTextContents()).toEqual([check]);
    await page.getByText('this tab has checked the signature').waitFor();
    if (cheat === 'Changed action') await inspect(page, 'playground-deny');
    expectQuiet();
  });

  it('denies an honest request above the limit too', async () => {
    const { page } = await open();
    await page.getByRole('slider', { name: 'Amount' }).press('End');
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.locator('.decided').getByText('AMOUNT_EXCEEDS_AUTHORITY').waitFor();
  });

  it('lights the checks one after the other for who does not mind motion', async () => {
    const { page, expectQuiet } = await open({ motion: true });
    await page.getByRole('button', { name: 'Ask the service' }).click();
    await page.locator('.check-waiting').first().waitFor();
    await page.locator('.check-ok').first().waitFor();
    await page.getByText('Every check passed.').waitFor();
    expectQuiet();
  });

  it('copies the run as curl and as TypeScript', async () => {
    const { page, base } = await open();
    await page.getByRole('button', { name: 'Revoked Grant' }).click();
    await page.getByRole('button', { name: 'Copy as curl' }).click();
    const copied = () => page.evaluate('navigator.clipboard.readText()');
    await expect.poll(copied).toContain(`curl -sS '${base}/demo/revoke'`);
    await page.getByRole('button', { name: 'Copy as TypeScript' }).click();
    await expect.poll(copied).toContain(`const base = '${base}/';`);
  });

  it('works by keyboard alone', async () => {
    const { page } = await open();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    const focused = () => page.evaluate('document.activeElement?.textContent');
    for (let i = 0; i < 20 && (await focused()) !== 'Ask the service'; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByText('Every check passed.').waitFor();
  });
});
