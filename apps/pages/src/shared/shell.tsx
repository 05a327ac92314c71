/** What every page has around it: the skip link, the head with the other pages, the foot. */
import type { ComponentChildren } from 'preact';
import './tokens.css';
import './base.css';
import './shell.css';

const PAGES = [
  { path: 'playground', name: 'Playground', sandboxOnly: true },
  { path: 'verify-receipt', name: 'Verify', sandboxOnly: false },
  { path: 'transparency', name: 'Transparency', sandboxOnly: false },
  { path: 'dashboard', name: 'Dashboard', sandboxOnly: false },
  { path: 'docs', name: 'API reference', sandboxOnly: false },
] as const;

export type PagePath = (typeof PAGES)[number]['path'];

/** The API writes into the page whether this deployment has a sandbox. */
const hasSandbox = (): boolean => document.documentElement.dataset.sandbox === 'on';

export const Shell = ({
  current,
  title,
  lead,
  children,
}: {
  /** Null: the page stands alone, without neighbours. */
  readonly current: PagePath | null;
  readonly title: string;
  readonly lead: ComponentChildren;
  readonly children: ComponentChildren;
}) => (
  <>
    {/* biome-ignore lint/a11y/useValidAnchor: it goes where it says */}
    <a class="skip" href="#content" onClick={skipToContent}>
      Skip to the content
    </a>
    <header class="top">
      <div class="top-inner">
        <span class="brand">
          <Mark />
          svc
        </span>
        {current !== null && (
          <nav aria-label="Pages">
            <ul>
              {PAGES.filter(({ sandboxOnly }) => !sandboxOnly || hasSandbox()).map(({ path, name }) => (
                <li key={path}>
                  <a href={path} {...(path === current ? { 'aria-current': 'page' as const } : {})}>
                    {name}
                  </a>
                </li>
              ))}
            </ul>
          </nav>
        )}
      </div>
    </header>
    <main id="content" tabIndex={-1}>
      <div class="intro">
        <h1>{title}</h1>
        <p>{lead}</p>
      </div>
      {children}
    </main>
    <footer class="bottom">This page loads nothing from anywhere else and sets no cookies.</footer>
  </>
);

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
