/** The pages of this build as the API of the last release reads them: it knows none of the kinds of files that came since. */
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

const KNOWN = /\.(html|js|css)$/;

/** `from`: the pages of this build. `to` is made. */
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
