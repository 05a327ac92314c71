/** Serves the pages with the real HTTP frame, over the answers of a test. */
import { loadErrorPage, loadPages } from '../../src/http/pages.ts';
import { type Options, startService } from '../world/http-fixture.ts';
import { PAGES_FOLDER } from './browser.ts';

export interface Served {
  readonly didDocument: unknown;
  readonly hasSandbox?: boolean;
  readonly handlers?: NonNullable<Options['handlers']>;
}

/** Resolves with the base URL, without a trailing slash. The server ends with the test. */
export const servePages = async ({ didDocument, hasSandbox = true, handlers }: Served): Promise<string> => {
  const { base } = await startService({
    deps: {
      pages: loadPages(PAGES_FOLDER, { hasSandbox }),
      errorPage: loadErrorPage(PAGES_FOLDER, { hasSandbox }),
    },
    handlers: {
      getServiceDidDocument: async () => ({
        status: 200,
        rawBody: JSON.stringify(didDocument),
        contentType: 'application/did+json',
      }),
      ...handlers,
    },
  });
  return base;
};
