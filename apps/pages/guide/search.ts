/**
 * Search in the browser tab: the texts of the guide are loaded with the first use and indexed here. No query leaves the
 * tab.
 */
import MiniSearch, { type SearchResult } from 'minisearch';

/** Address, title of the page, heading, its id, text. */
export type Entry = readonly [address: string, title: string, heading: string, id: string, text: string];

const SHOWN = 12;
const EXCERPT = 130;

const here = document.querySelector<HTMLScriptElement>('script[data-index]');
const input = document.querySelector<HTMLInputElement>('#find');
const found = document.querySelector<HTMLElement>('.found');
const status = found?.querySelector('p');
const list = found?.querySelector('ol');

let loaded: Promise<MiniSearch> | undefined;

const load = async (): Promise<MiniSearch> => {
  const response = await fetch(here?.dataset.index ?? '');
  if (!response.ok) throw new Error(`the texts of the guide did not come: ${response.status}`);
  const entries = (await response.json()) as readonly Entry[];
  const index = new MiniSearch({
    fields: ['heading', 'title', 'text'],
    storeFields: ['address', 'title', 'heading', 'text'],
    searchOptions: {
      ...{ prefix: true, fuzzy: 0.15, combineWith: 'AND' },
      boost: { heading: 4, title: 2 },
      boostDocument: (_id, _term, stored) => weightOf(stored?.address),
    },
  });
  index.addAll(
    entries.map(([address, title, heading, hash, text], id) => ({
      id,
      address: hash === '' ? address : `${address}#${hash}`,
      title,
      heading,
      text,
    })),
  );
  return index;
};

/** Ranks pages that say how something is done first, and pages that say why it is built so last. */
const weightOf = (address: unknown): number => {
  if (/^guide\/(?:start|how-to)\//.test(`${address}`)) return 3;
  return /^guide\/decisions\//.test(`${address}`) ? 0.3 : 1;
};

const search = async (): Promise<void> => {
  if (input === null || !found || !status || !list) return;
  const query = input.value.trim();
  if (query === '') {
    found.hidden = true;
    return;
  }
  try {
    loaded ??= load();
    const results = (await loaded).search(query);
    if (input.value.trim() !== query) return;
    status.textContent =
      results.length === 0
        ? `Nothing about “${query}”.`
        : `${results.length === 1 ? 'One place' : `${results.length} places, the nearest first`}. Enter opens the first; arrow keys go through them.`;
    list.replaceChildren(...results.slice(0, SHOWN).map((result) => show(result)));
  } catch {
    loaded = undefined;
    status.textContent = 'The search did not load. Try again.';
    list.replaceChildren();
  }
  found.hidden = false;
};

const show = ({ address, title, heading, text, terms }: SearchResult): HTMLElement => {
  const link = document.createElement('a');
  // Addresses are relative to the root of the service, to which the first link of the page leads.
  link.href = new URL(address, document.querySelector<HTMLAnchorElement>('.brand')?.href ?? '').href;
  link.textContent = heading === title ? title : `${title} › ${heading}`;
  const excerpt = document.createElement('span');
  const at = Math.max(0, text.toLowerCase().indexOf(terms[0] ?? '') - 30);
  // Begins at a whole word; the last word may be cut off.
  excerpt.textContent = (at === 0 ? text : text.slice(at).replace(/^\S*\s/, '')).slice(0, EXCERPT);
  const item = document.createElement('li');
  item.append(link, excerpt);
  return item;
};

const links = (): readonly HTMLAnchorElement[] => [...(list?.querySelectorAll('a') ?? [])];

/** Moving up from the first result returns to the field. */
const move = (steps: number): void => {
  const all = links();
  const at = all.indexOf(document.activeElement as HTMLAnchorElement) + steps;
  const to = at < 0 ? input : all[Math.min(at, all.length - 1)];
  to?.focus();
};

const close = (): void => {
  if (found) found.hidden = true;
};

input?.addEventListener('input', search);
input?.addEventListener('focus', () => {
  loaded ??= load();
  loaded.catch(() => {
    loaded = undefined;
  });
});
input?.addEventListener('keydown', async (event) => {
  if (event.key !== 'Enter' || event.isComposing) return;
  await search();
  links()[0]?.click();
});

const box = input?.closest('search');
box?.addEventListener('keydown', (event) => {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
  event.preventDefault();
  // Opens results that were closed.
  if (found?.hidden !== false) void search();
  move(event.key === 'ArrowDown' ? 1 : -1);
});
box?.addEventListener('focusout', ({ relatedTarget }) => {
  // Null where the window lost the focus, or where an element that cannot take it was pressed.
  if (relatedTarget instanceof Node && !box.contains(relatedTarget)) close();
});
document.addEventListener('pointerdown', ({ target }) => {
  if (target instanceof Node && box?.contains(target) === false) close();
});

document.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    input?.focus();
  }
  if (event.key === 'Escape' && found?.hidden === false) {
    input?.focus();
    close();
  }
});
