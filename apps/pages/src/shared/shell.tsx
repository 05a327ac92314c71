/** The frame of every page: the skip link, the head with the other pages, the foot. */
import type { ComponentChildren } from 'preact';
import { PAGES, type PageFrame, type PageName } from './page-list.ts';
import { Mark, Top } from './top.tsx';
import './tokens.css';
import './base.css';
import './shell.css';

export const Shell = ({
  page,
  standsAlone = false,
  children,
}: {
  readonly page: PageName;
  /** True for a page that is kept as a file, without the other pages. */
  readonly standsAlone?: boolean;
  readonly children: ComponentChildren;
}) => (
  <>
    {/* biome-ignore lint/a11y/useValidAnchor: it goes where it says */}
    <a class="skip" href="#content" onClick={skipToContent}>
      Skip to the content
    </a>
    {standsAlone ? (
      <header class="top">
        <div class="top-inner">
          <span class="brand">
            <Mark />
            svc
          </span>
        </div>
      </header>
    ) : (
      <Top page={page} />
    )}
    <main id="content" tabIndex={-1}>
      <div class="intro">
        <Intro {...PAGES[page]} />
      </div>
      {children}
    </main>
    <footer class="bottom">This page loads nothing from anywhere else and sets no cookies.</footer>
  </>
);

const Intro = ({ title, lead, file }: PageFrame) => (
  <>
    <h1>{title}</h1>
    <p>
      {lead}
      {file !== undefined && (
        <>
          {' '}
          {file.what}: <a href={file.name}>{file.name}</a>.
        </>
      )}
    </p>
  </>
);

/** Moves the focus without changing the fragment of the address, which names the Receipt or day that is shown. */
const skipToContent = (event: Event): void => {
  event.preventDefault();
  document.getElementById('content')?.focus();
};
