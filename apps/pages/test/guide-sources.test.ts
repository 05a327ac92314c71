import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import dockerignore from '@balena/dockerignore';
import { expect, it } from 'vitest';
import { createResolver } from '../guide/markdown.ts';
import { listSources, ROOT } from '../guide/sources.ts';

it('the build of the image has every file of the guide: its pages, their pictures, and what their links lead to', () => {
  const sources = listSources();
  const needed = new Set(sources.flatMap(({ file }) => (file === null || file.endsWith('/') ? [] : [file])));
  const resolve = createResolver(sources, (path) => path);
  for (const source of sources)
    for (const link of linksIn(source.markdown)) {
      const target = resolve(source, link);
      if (target.kind === 'picture') needed.add(target.address);
      if (target.kind === 'file') needed.add(target.path.replace(/\/$/, ''));
    }
  expect([...needed].filter((path) => /\.(?:png|jpg)$/.test(path))).not.toEqual([]);

  const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0');
  const ignored = dockerignore({ ignorecase: false }).add(
    readFileSync(new URL('deploy/image/Dockerfile.dockerignore', ROOT), 'utf8'),
  );
  const context = ignored.filter(tracked);
  const isThere = (path: string): boolean =>
    context.some((file) => file === path || file.startsWith(`${path}/`));
  expect([...needed].filter((path) => !isThere(path))).toEqual([]);
});

it('a link to a heading of the same page stays on the page', () => {
  const page = { address: 'guide/operations', file: 'docs/operations.md' };
  const resolve = createResolver([page], (path) => path);
  expect(resolve(page, '#keys')).toEqual({ kind: 'page', address: 'guide/operations', hash: '#keys' });
});

/** Without those in code. */
function linksIn(markdown: string): readonly string[] {
  const text = markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`]*`/g, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
}
