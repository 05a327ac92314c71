/** The pages of this build as the API of the last release reads them: without the kinds of files that are new since. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const KNOWN = /\.(html|js|css)$/;

/** `from`: the pages of this build. `to` is created. */
export function linkReleasedPages(from: string, to: string): void {
  for (const folder of ['', 'pages']) {
    mkdirSync(join(to, folder), { recursive: true });
    for (const { name } of readdirSync(join(from, folder), { withFileTypes: true }).filter((it) =>
      it.isFile(),
    ))
      if (KNOWN.test(name)) symlinkSync(join(from, folder, name), join(to, folder, name));
  }
  symlinkSync(join(from, 'encoded'), join(to, 'encoded'));
}
