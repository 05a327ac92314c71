/**
 * The page that shows an error to a browser, at any path. The API inserts the path to its root, the code and the
 * message.
 */
import { renderToString } from 'preact-render-to-string';
import { Top } from '../src/shared/top.tsx';

export const errorPage = (style: string): string => `<!doctype html>
${renderToString(
  <html lang="en" data-sandbox="off">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="color-scheme" content="light dark" />
      <title>{'{code} – svc'}</title>
      <link rel="icon" href="data:," />
      <link rel="stylesheet" href={`{root}${style}`} />
    </head>
    <body>
      <a class="skip" href="#content">
        Skip to the content
      </a>
      <Top page={null} root="{root}" />
      <main id="content" tabIndex={-1}>
        <div class="intro">
          <h1>{'{code}'}</h1>
          <p>{'{message}'}</p>
          <p>
            <a href="{root}guide/errors/{code}">What to do about it</a>
          </p>
        </div>
      </main>
      <footer class="bottom">This page loads nothing from anywhere else and sets no cookies.</footer>
    </body>
  </html>,
)}
`;
