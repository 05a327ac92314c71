/**
 * What each page shows before its script is loaded: its own first rendering, made at build. The script then continues
 * from it.
 */
import { buildOpenApiDocument } from '@svc/contract/openapi';
import { renderToString } from 'preact-render-to-string';
import { Approve } from './approve/approve.tsx';
import { Dashboard } from './dashboard/dashboard.tsx';
import { Explorer } from './explorer/explorer.tsx';
import { Home } from './home/home.tsx';
import { Playground } from './playground/playground.tsx';
import type { OpenApiDocument } from './reference/openapi.ts';
import { listOperations } from './reference/operations.ts';
import { Reference } from './reference/reference.tsx';
import type { PageName } from './shared/page-list.ts';
import { Verifier } from './verifier/verifier.tsx';

const openApi = buildOpenApiDocument('https://svc.example') as unknown as OpenApiDocument;

const nothingYet = (): Promise<never> => new Promise(() => {});

/** Removes `style` attributes, which the policy of the pages refuses in markup; the script sets them. */
/** The pages that Vite builds; the guide has a build of its own. */
type Rendered = Exclude<PageName, 'guide'>;

export const prerender = (page: Rendered): string => render(page).replaceAll(/ style="[^"]*"/g, '');

const render = (page: Rendered): string => {
  switch (page) {
    case 'home':
      return renderToString(<Home />);
    case 'playground':
      return renderToString(<Playground />);
    case 'verifier':
      return renderToString(<Verifier fetchDocument={nothingYet} />);
    case 'transparency':
      return renderToString(<Explorer />);
    case 'approve':
      return renderToString(<Approve />);
    case 'dashboard':
      return renderToString(<Dashboard />);
    case 'reference':
      return renderToString(<Reference areas={listOperations(openApi)} />);
  }
};
