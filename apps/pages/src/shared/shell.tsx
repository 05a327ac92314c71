/** What every page has around it: the skip link, the head with the other pages, the foot. */
import type { ComponentChildren } from 'preact';
import { PAGES, type PageFrame, type PageName } from './page-list.ts';
import './tokens.css';
import './base.css';
import './shell.css';

export const Shell = ({
  page,
  standsAlone = false,
  children,
}: {
  readonly page: PageName;
  /** Without neighbours: kept as a file. */
  readonly standsAlone?: boolean;
  readonly children: ComponentChildren;
}) => (
  <>
    {/* biome-ignore lint/a11y/useValidAnchor: it goes where it says */}
    <a class="skip" href="#content" onClick={skipToContent}>
      Skip to the content
    </a>
    <header class="top">
      <div class="top-inner">
        {standsAlone ? (
          <span class="brand">
            <Mark />
            svc
          </span>
        ) : (
          <>
            <a class="brand" href={PAGES.home.path} {...currentIf(page === 'home')}>
              <Mark />
              svc <span class="unseen">start page</span>
            </a>
            <nav aria-label="Pages">
              <ul>{NEIGHBOURS.map((name) => navigation(name, name === page))}</ul>
            </nav>
          </>
        )}
      </div>
    </header>
    <main id="content" tabIndex={-1}>
      <div class="intro">
        <h1>{PAGES[page].title}</h1>
        <p>{PAGES[page].lead}</p>
      </div>
      {children}
    </main>
    <footer class="bottom">This page loads nothing from anywhere else and sets no cookies.</footer>
  </>
);

const NEIGHBOURS: readonly PageName[] = ['playground', 'verifier', 'transparency', 'dashboard', 'reference'];

const currentIf = (isCurrent: boolean) => (isCurrent ? { 'aria-current': 'page' as const } : {});

/** What needs a sandbox is there in the markup, and hidden by style where the API has written that there is none. */
const navigation = (name: PageName, isCurrent: boolean) => {
  const frame: PageFrame = PAGES[name];
  return (
    <li key={name} class={frame.sandboxOnly ? 'sandbox-only' : ''}>
      <a href={frame.path} {...currentIf(isCurrent)}>
        {frame.name}
      </a>
    </li>
  );
};

/** The fragment of the address is left alone: it says which Receipt or day is shown. */
const skipToContent = (event: Event): void => {
  event.preventDefault();
  document.getElementById('content')?.focus();
};

const Mark = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
    <path d="M12 2.5 20 5.6v5.8c0 4.8-3.2 8.4-8 10.1-4.8-1.7-8-5.3-8-10.1V5.6z" stroke-linejoin="round" />
    <path d="m8.2 11.8 2.7 2.7 4.9-5.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>
);
