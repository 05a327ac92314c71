/**
 * The head of every page: the mark, and the links to the other pages. `root` leads from the page to the root of the
 * service.
 */
import { PAGES, type PageFrame, type PageName } from './page-list.ts';

const NEIGHBOURS: readonly PageName[] = [
  'guide',
  'playground',
  'verifier',
  'transparency',
  'dashboard',
  'approve',
  'reference',
];

interface Head {
  /** Null where it is none of the listed pages. */
  readonly page: PageName | null;
  readonly root?: string;
  /** The pages that exist. */
  readonly pages?: readonly PageName[];
}

export const Top = ({ page, root = '', pages = NEIGHBOURS }: Head) => (
  <header class="top">
    <div class="top-inner">
      <a class="brand" href={root === '' ? './' : root} {...currentIf(page === 'home')}>
        <Mark />
        svc <span class="unseen">start page</span>
      </a>
      <nav aria-label="Pages">
        <ul>{pages.map((name) => navigation(name, name === page, root))}</ul>
      </nav>
    </div>
  </header>
);

const currentIf = (isCurrent: boolean) => (isCurrent ? { 'aria-current': 'page' as const } : {});

/**
 * Links that need a sandbox are in the markup. Style hides them where the API has marked the page as one without a
 * sandbox.
 */
const navigation = (name: PageName, isCurrent: boolean, root: string) => {
  const frame: PageFrame = PAGES[name];
  return (
    <li key={name} class={frame.sandboxOnly ? 'sandbox-only' : ''}>
      <a href={root + frame.path} {...currentIf(isCurrent)}>
        {frame.name}
      </a>
    </li>
  );
};

export const Mark = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true">
    <path d="M12 2.5 20 5.6v5.8c0 4.8-3.2 8.4-8 10.1-4.8-1.7-8-5.3-8-10.1V5.6z" stroke-linejoin="round" />
    <path d="m8.2 11.8 2.7 2.7 4.9-5.2" stroke-linecap="round" stroke-linejoin="round" />
  </svg>
);
