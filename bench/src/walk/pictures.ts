/** Makes one picture of each page: on a desktop and on a phone, light above and dark below. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const PAGES = [
  ...['', 'playground', 'verify-receipt', 'transparency', 'dashboard', 'docs'],
  ...['guide', 'guide/how-to/webhooks'],
] as const;
const DESK = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 900 };
const SCHEMES = ['light', 'dark'] as const;

export const takePictures = async (baseUrl: string, folder: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
  try {
    for (const name of PAGES) {
      const looks: string[] = [];
      for (const colorScheme of SCHEMES)
        for (const viewport of [DESK, PHONE]) {
          const context = await browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
          const page = await context.newPage();
          await page.goto(`${baseUrl}/${name}`, { waitUntil: 'networkidle' });
          looks.push((await page.screenshot({ type: 'png' })).toString('base64'));
          await context.close();
        }
      await arrange(
        browser,
        looks,
        join(folder, `first-hour-${name === '' ? 'home' : name.replaceAll('/', '-')}.jpg`),
      );
    }
  } finally {
    await browser.close();
  }
};

const arrange = async (browser: Browser, looks: readonly string[], path: string): Promise<void> => {
  const page = await browser.newPage({ viewport: { width: 900, height: 980 } });
  const images = looks.map((look, i) => {
    const { width } = i % 2 === 0 ? DESK : PHONE;
    return `<img src="data:image/png;base64,${look}" style="width:${width / 2}px">`;
  });
  await page.setContent(
    `<body style="margin:12px;display:grid;grid-template-columns:640px 195px;gap:12px;background:#888">${images.join('')}`,
  );
  await page.locator('body').screenshot({ path, type: 'jpeg', quality: 80 });
  await page.close();
};
