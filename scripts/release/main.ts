/**
 * `npm run release`: packs every published package into `.data/release/<version>`, checks its contents, lists licences
 * and writes bills of materials. It publishes nothing: continuous integration publishes, because only it can state the
 * provenance. `--dry-run` does the same while changesets are still waiting.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pack } from '../pack/pack.ts';
import { findContentFaults } from './contents.ts';
import { keepApi } from './keep-api.ts';
import { listLicences } from './licences.ts';
import {
  type Installed,
  isOurs,
  listNeeded,
  listPrograms,
  listPublished,
  type Manifest,
  ROOT,
} from './packages.ts';
import { buildSbom } from './sbom.ts';

const USAGE = 'Usage: npm run release [-- --dry-run]';

const main = (parameters: readonly string[]): number => {
  if (parameters.some((one) => one !== '--dry-run')) {
    console.error(USAGE);
    return 2;
  }
  const waiting = readdirSync(join(ROOT, '.changeset')).filter((name) => name.endsWith('.md'));
  if (waiting.length > 0 && !parameters.includes('--dry-run')) {
    console.error(
      `${waiting.length} changesets wait: run npm run release:version first, and commit what it writes`,
    );
    return 1;
  }
  const published = listPublished();
  const version = published[0]?.manifest.version ?? '';
  const folder = join(ROOT, '.data', 'release', version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tarballs = published.map((one) => ({ one, tarball: pack(one, folder) }));
  const faults = tarballs.flatMap(({ tarball }) =>
    findContentFaults(readManifest(tarball), listFiles(tarball)),
  );
  const licences = listLicences(listNeeded([...published, ...listPrograms()]).values());
  faults.push(...licences.refused.map((one) => `licence not in scripts/release/licences.ts: ${one}`));
  writeFileSync(join(folder, 'LICENCES.txt'), textOf(licences.byLicence));
  for (const { one, tarball } of tarballs)
    writeFileSync(tarball.replace(/\.tgz$/, '.cdx.json'), buildSbom(one));
  writeFileSync(join(folder, 'svc-image.cdx.json'), buildSbom(imageOf(version), listPrograms()));
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) return 1;
  console.log(
    `${published.length} packages of ${version}, their bills of materials and licences are in ${folder}`,
  );
  if (waiting.length > 0) return 0;
  console.log(`Commit ${keepApi(ROOT, version)}: the next version is tested beside it.`);
  console.log('Published from continuous integration, in this order:');
  for (const { tarball } of inOrder(tarballs))
    console.log(`  npm publish --provenance --access public ${tarball}`);
  return 0;
};

/** Each package after those that it needs. A package needs more of our packages than any of those. */
const inOrder = <T extends { readonly one: Installed }>(tarballs: readonly T[]): readonly T[] => {
  const countOf = ({ one }: T) => [...listNeeded([one]).values()].filter(isOurs).length;
  return [...tarballs].sort((one, other) => countOf(one) - countOf(other));
};

const listFiles = (tarball: string): readonly string[] =>
  execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => path !== '' && !path.endsWith('/'))
    .map((path) => path.replace(/^package\//, ''));

const readManifest = (tarball: string): Manifest =>
  JSON.parse(
    execFileSync('tar', ['-xzOf', tarball, 'package/package.json'], { encoding: 'utf8' }),
  ) as Manifest;

/** The programs of the image. The packages of its operating system are not included. */
const imageOf = (version: string): Installed => ({
  folder: '',
  manifest: {
    name: '@svc/image',
    version,
    license: 'Apache-2.0',
    description: 'The programs of the service.',
  },
});

const textOf = (byLicence: ReadonlyMap<string, readonly string[]>): string =>
  [...byLicence].map(([licence, ids]) => `${licence}\n${ids.map((id) => `  ${id}\n`).join('')}`).join('\n');

process.exitCode = main(process.argv.slice(2));
