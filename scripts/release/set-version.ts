/**
 * Second half of `npm run release:version`, after `changeset version` has set the version of the published packages.
 * The programs, the other packages and the Helm chart get the same version, so that image, chart and packages name one
 * release.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listPublished, listUnpublished, ROOT } from './packages.ts';

const version = listPublished()[0]?.manifest.version ?? '';

const rewrite = (file: string, pattern: RegExp): void => {
  const text = readFileSync(file, 'utf8');
  if (!pattern.test(text)) throw new Error(`${file} has no version`);
  writeFileSync(
    file,
    text.replace(pattern, (_, before: string, after: string) => `${before}${version}${after}`),
  );
};

for (const { folder } of listUnpublished())
  rewrite(join(folder, 'package.json'), /^( {2}"version": ")[^"]+(",)$/m);
const chart = join(ROOT, 'deploy', 'helm', 'svc', 'Chart.yaml');
rewrite(chart, /^(version: ).+()$/m);
rewrite(chart, /^(appVersion: ").+(")$/m);
console.log(`everything is ${version} now`);
