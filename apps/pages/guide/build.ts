/**
 * Builds the guide with Eleventy: each page beside its Markdown in `dist/guide/`, the assets in `dist/pages/` under
 * names that contain their hash, and llms.txt. `--to FOLDER` writes a guide that stands alone, as a site of its own.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import Eleventy, { type EleventyConfig } from '@11ty/eleventy';
import { build } from 'esbuild';
import { errorPage } from './error-page.tsx';
import { headOf } from './head.ts';
import { layOut } from './layout.tsx';
import { llmsText } from './llms.ts';
import {
  amendMarkdown,
  createResolver,
  type Environment,
  markdownFor,
  type Section,
  sectionsOf,
} from './markdown.ts';
import type { Entry } from './search.ts';
import { listSources, ROOT, type Source } from './sources.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const { values } = parseArgs({ options: { to: { type: 'string' } } });
const isAlone = values.to !== undefined;
const to = values.to ?? join(HERE, '../dist');

const write = (name: string, content: string | Uint8Array): void => {
  const file = join(to, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
};

/** Writes an asset under a name that contains its hash, and returns that name. */
const writeAsset = (name: string, content: string | Uint8Array): string => {
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
  const extension = extname(name);
  const asset = `pages/${basename(name, extension)}-${hash}${extension}`;
  write(asset, content);
  return asset;
};

const bundle = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [join(HERE, entry)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: 'es2022',
  });
  return outputFiles[0]?.text ?? '';
};

/** A guide that stands alone has no other pages of the service to link to. */
const withoutService = (source: Source): Source => ({
  ...source,
  markdown: source.markdown.replaceAll(/\[([^\]]*)\]\(\/[^)]*\)/g, '$1'),
});
const sources = isAlone ? listSources().map(withoutService) : listSources();
const pictureOf = (path: string): string => writeAsset(basename(path), readFileSync(new URL(path, ROOT)));

const resolve = createResolver(sources, pictureOf);

const pages = sources.map((source) => ({ source, ...headOf(source) }));
const contents = pages.filter(({ source }) => source.isListed);
const sections = new Map<Source, readonly Section[]>();

/** The search index, made from the pages as they are rendered. */
const indexOf = (): readonly Entry[] =>
  pages.flatMap(({ source, title }) =>
    (sections.get(source) ?? []).map(
      ({ heading, id, text }, i): Entry => [source.address, title, heading, i === 0 ? '' : id, text],
    ),
  );

const createMarkdown = (config: EleventyConfig): void =>
  config.amendLibrary('md', (md) => {
    amendMarkdown(md, resolve);
    for (const { source } of pages)
      sections.set(source, sectionsOf(md.parse(source.markdown, { source } satisfies Environment)));
    assets.index = writeAsset('guide.json', JSON.stringify(indexOf()));
  });

const assets = {
  style: writeAsset('guide.css', await bundle('guide.css')),
  script: writeAsset('guide.js', await bundle('search.ts')),
  index: '',
};
rmSync(join(to, 'guide'), { recursive: true, force: true });
await new Eleventy(HERE, to, {
  quietMode: true,
  config: (config: EleventyConfig) => {
    config.setTemplateFormats(['md']);
    createMarkdown(config);
    for (const page of pages)
      config.addTemplate(`${page.source.address}.md`, page.source.markdown, {
        source: page.source,
        permalink: `${page.source.address}.html`,
        markdownTemplateEngine: false,
        templateEngineOverride: 'md',
      });
    config.addTransform('page', function (html) {
      const page = pages.find(({ source }) => this.page.inputPath.endsWith(`/${source.address}.md`));
      if (page === undefined) throw new Error(`${this.page.inputPath} is no page of the guide`);
      const [, ...headings] = sections.get(page.source) ?? [];
      return layOut({
        ...page,
        html,
        headings: headings.filter(({ level }) => level === 2),
        contents,
        assets,
        isAlone,
      });
    });
  },
}).write();

for (const { source } of pages) write(`${source.address}.md`, markdownFor(source, resolve));
// A guide that stands alone begins at its root; in the service the root is another page.
if (isAlone) write('index.html', readFileSync(join(to, 'guide.html')));
else write('error.html', errorPage(assets.style));
write('llms.txt', llmsText(pages, 'llms'));
write('guide/llms.txt', llmsText(pages, 'guide/llms'));
