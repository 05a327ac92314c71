/**
 * Each page of docs/guide works for a reader who has only a clone: its blocks, pasted in order, do what the page says
 * and print what it shows.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { type PackageRegistry, startPackageRegistry } from '@svc/testkit/process/package-registry';
import { isDeep } from '@svc/testkit/sampled';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Clone, follow, patternOf, ROOT, startClone, stepsOf } from '../world/stranger.ts';

const SAMPLE = ['start/relying-party'];
const PAGES = isDeep
  ? ['start', 'how-to'].flatMap((folder) =>
      readdirSync(join(ROOT, 'docs/guide', folder)).map((name) => `${folder}/${name.replace(/\.md$/, '')}`),
    )
  : SAMPLE;

/** Milliseconds; generous, since a loaded machine is slow, which is not a fault of the page. */
const PAGE_MS = 400_000;

let clone: Clone;
let registry: PackageRegistry;
beforeAll(async () => {
  const named = PAGES.flatMap(stepsOf).flatMap(({ code }) => [
    ...code.matchAll(/packages\/svc-([\w-]+)-\*/g),
  ]);
  clone = await startClone(named.map(([, name = '']) => `@svc/${name}`));
  registry = await startPackageRegistry();
}, PAGE_MS);
afterAll(async () => {
  await registry?.close();
  await clone?.stop();
});

/** Whether the tools are installed that the page of other languages needs. */
const canRun = (page: string): boolean =>
  page !== 'how-to/jose' ||
  [
    ['/usr/bin/python3', '-c', 'import jwt, jwcrypto, cryptography'],
    ['java', '-m', 'jdk.compiler/com.sun.tools.javac.Main', '-version'],
  ].every(([command = '', ...words]) => spawnSync(command, words, { timeout: 60_000 }).status === 0);

it.each(PAGES.filter(canRun))(
  'the blocks of page %s, run in order, print what the page shows',
  async (page) => {
    const followed = await follow(page, clone, { npm_config_registry: registry.url });
    for (const { said, printed } of followed) if (said !== null) expect(printed).toMatch(patternOf(said));
    expect(followed.filter(({ said }) => said !== null).length).toBeGreaterThan(0);
  },
  PAGE_MS,
);

it('the comparison of printed text is exact, except where the page has an ellipsis', () => {
  expect('201 drc_1\n403 X').toMatch(patternOf('201 drc_…\n403 X'));
  expect('a\nb\nc').toMatch(patternOf('a\n…\nc'));
  expect('201 drc_1\n403 Y').not.toMatch(patternOf('201 drc_…\n403 X'));
  expect('201 drc_1').not.toMatch(patternOf('201 …\n403 X'));
});
