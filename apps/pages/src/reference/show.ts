/** Loads Redoc and the document, and renders. After any failure the list of operations stays, with a message. */
import type { OpenApiDocument } from './openapi.ts';
import { withSamples } from './samples.ts';
import { themeFor } from './theme.ts';

declare global {
  var Redoc:
    | {
        init(document: object, options: object, place: HTMLElement, done: (error?: Error) => void): void;
      }
    | undefined;
}

export const start = async (redocAddress: string): Promise<void> => {
  const list = document.getElementById('reference');
  if (list === null) return;
  list.setAttribute('aria-busy', 'true');
  try {
    const [api] = await Promise.all([fetchDocument(), loadScript(redocAddress)]);
    await draw(withSamples(api), list);
  } catch (error) {
    document.documentElement.classList.remove('is-whole');
    list.removeAttribute('aria-busy');
    const problem = document.createElement('p');
    problem.className = 'note note-bad';
    problem.setAttribute('role', 'alert');
    problem.textContent = `The whole reference could not be shown: ${(error as Error).message} This is the list of its operations.`;
    list.before(problem);
  }
};

const fetchDocument = async (): Promise<OpenApiDocument> => {
  const response = await fetch('openapi.json');
  if (!response.ok) throw new Error(`openapi.json was answered ${response.status}.`);
  return (await response.json()) as OpenApiDocument;
};

const loadScript = (address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = address;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error('its script could not be loaded.'));
    document.head.append(script);
  });

/** Renders, and renders again when the colour scheme changes. */
const draw = async (api: OpenApiDocument, list: HTMLElement): Promise<void> => {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const drawn = document.createElement('div');
  drawn.id = 'redoc';
  const drawInto = (place: HTMLElement): Promise<void> =>
    new Promise((resolve, reject) => {
      if (globalThis.Redoc === undefined) throw new Error('its script did not run.');
      globalThis.Redoc.init(api, optionsFor(dark.matches), place, (error) =>
        error === undefined || error === null ? resolve() : reject(error),
      );
    });
  // Set before Redoc looks for the place that the address names.
  document.documentElement.classList.add('is-whole');
  list.after(drawn);
  await drawInto(drawn);
  list.remove();
  dark.addEventListener('change', () => void drawInto(drawn));
};

const optionsFor = (isDark: boolean): object => ({
  expandResponses: '200,201',
  hideHostname: true,
  hideDownloadButton: true,
  // The bar that stays at the top, with the links to the other pages.
  scrollYOffset: '.top',
  theme: themeFor(isDark),
});
