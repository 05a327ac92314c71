import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

/** What a user of the library has installed with it. */
const INSTALLED = /^(express|fastify|@modelcontextprotocol\/sdk\/[\w/.-]+\.js|\.{1,2}\/[\w/.-]+\.js)$/;

describe.each(['sdk-principal', 'sdk-rp'])('the built declarations of %s', (name) => {
  const folder = new URL(`../../${name}/dist/`, import.meta.url);
  const isBuilt = existsSync(new URL('index.d.ts', folder));
  if (!isBuilt) console.warn(`packages/${name} is not built: its declarations are not checked`);

  it.skipIf(!isBuilt)('import only installed packages and existing files', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.d.ts'),
    );
    for (const file of files) {
      const text = readFileSync(new URL(file, folder), 'utf8');
      for (const [, from = ''] of text.matchAll(/(?:from|import\() ?["']([^"']+)["']/g)) {
        expect([file, from]).toEqual([file, expect.stringMatching(INSTALLED)]);
        const local = new URL(from.replace(/\.js$/, '.d.ts'), new URL(file, folder));
        if (from.startsWith('.')) expect([local.href, existsSync(local)]).toEqual([local.href, true]);
      }
    }
  });
});
