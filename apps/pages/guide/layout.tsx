/** The frame of a page of the guide: the head of all pages, the search, the contents, and the page's headings. */
import { renderToString } from 'preact-render-to-string';
import { Top } from '../src/shared/top.tsx';
import { relative, type Section } from './markdown.ts';
import type { Source } from './sources.ts';

export interface Layout {
  readonly source: Source;
  readonly title: string;
  readonly description: string;
  /** The rendered Markdown. */
  readonly html: string;
  readonly headings: readonly Pick<Section, 'heading' | 'id'>[];
  /** The guide is served alone, without the service's other pages. */
  readonly isAlone: boolean;
  readonly contents: readonly { readonly source: Source; readonly title: string }[];
  readonly assets: { readonly style: string; readonly script: string; readonly index: string };
}

/** Fewest headings for which a list of them is shown. */
const LISTED_HEADINGS = 4;

export const layOut = (page: Layout): string => {
  const to = (address: string) => relative(page.source.address, address);
  return `<!doctype html>
${renderToString(
  <html lang="en" data-sandbox="off">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <meta name="description" content={page.description} />
      <title>{page.title === 'Guide' ? 'Guide – svc' : `${page.title} – svc guide`}</title>
      <link rel="icon" href="data:," />
      <link rel="alternate" type="text/markdown" href={to(`${page.source.address}.md`)} />
      <link rel="stylesheet" href={to(page.assets.style)} />
      <script type="module" src={to(page.assets.script)} data-index={to(page.assets.index)} />
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Top
        page="guide"
        root={rootOf(page.source.address)}
        {...(page.isAlone && { pages: ['guide'] as const })}
      />
      <main id="content" tabIndex={-1} class="guide">
        <search class="find">
          <label for="find">Search the guide</label>
          <input
            id="find"
            type="search"
            autocomplete="off"
            spellcheck={false}
            aria-controls="found"
            aria-keyshortcuts="/"
          />
          <div id="found" class="found" hidden>
            <p role="status" />
            <ol />
          </div>
          <a class="to-contents" href="#contents">
            All pages of the guide
          </a>
        </search>
        <article>
          <Headings {...page} />
          <div class="text" dangerouslySetInnerHTML={{ __html: page.html }} />
          <p class="soft">
            <a href={to(`${page.source.address}.md`)}>This page as Markdown</a>
          </p>
        </article>
        <nav id="contents" aria-label="Pages of the guide">
          {sections(page).map(([section, entries]) => (
            <>
              {/* The first section is only its page. */}
              {entries.some(({ title }) => title !== section) && <h2>{section}</h2>}
              <ul>
                {entries.map(({ source, title }) => (
                  <li>
                    <a
                      href={to(source.address)}
                      {...(source.address === page.source.address && { 'aria-current': 'page' as const })}
                    >
                      {title}
                    </a>
                  </li>
                ))}
              </ul>
            </>
          ))}
        </nav>
      </main>
      <footer class="bottom">This page loads nothing from anywhere else and sets no cookies.</footer>
    </body>
  </html>,
)}
`;
};

const Headings = ({ headings }: Pick<Layout, 'headings'>) =>
  headings.length < LISTED_HEADINGS ? null : (
    <details class="headings plain-details">
      <summary>On this page</summary>
      <ul>
        {headings.map(({ heading, id }) => (
          <li>
            <a href={`#${id}`}>{heading}</a>
          </li>
        ))}
      </ul>
    </details>
  );

/** The relative path to the root: `guide` lies at the root, `guide/start/agent` two levels below it. */
const rootOf = (address: string): string => '../'.repeat(address.split('/').length - 1) || './';

const sections = ({ contents }: Layout): readonly (readonly [string, Layout['contents']])[] => {
  const names = [...new Set(contents.map(({ source }) => source.section))];
  return names.map((name) => [name, contents.filter(({ source }) => source.section === name)]);
};
