/** Packs a published package from its build, with its dependencies and their licences inside. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Installed, idOf, isOurs, isProgram, listNeeded, ROOT } from '../release/packages.ts';
import { bundleProgram } from './bundle.ts';
import { buildPublishedManifest } from './manifest.ts';

const LICENCES_OF_OTHERS = 'THIRD-PARTY-LICENCES.txt';

/** Writes `<name>-<version>.tgz` into the folder and returns its path. Throws if the package has not been built. */
export function pack(one: Installed, to: string): string {
  const { folder, manifest } = one;
  const scratch = mkdtempSync(join(tmpdir(), 'svc-pack-'));
  try {
    const staged = join(scratch, 'package');
    mkdirSync(staged);
    for (const name of ['README.md', ...listFiles(one)])
      cpSync(join(folder, name), join(staged, name), { recursive: true });
    if (isProgram(one))
      for (const file of Object.values(manifest.bin ?? {}))
        bundleProgram(join(folder, file), join(staged, file));
    cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'));
    const published = JSON.stringify(buildPublishedManifest(manifest), null, 2);
    writeFileSync(join(staged, 'package.json'), `${published}\n`);
    const licences = licencesOfOthers(one);
    if (licences !== '') writeFileSync(join(staged, LICENCES_OF_OTHERS), licences);
    const tarball = join(to, `${manifest.name.replace(/^@/, '').replace('/', '-')}-${manifest.version}.tgz`);
    execFileSync('tar', ['-czf', tarball, '-C', scratch, 'package']);
    return tarball;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The files in `files` of the manifest: names, or `*.json` for those of the folder. */
const listFiles = ({ folder, manifest: { name, files = [] } }: Installed): readonly string[] =>
  files.flatMap((file) => {
    if (file === '*.json')
      return readdirSync(folder).filter((each) => each.endsWith('.json') && each !== 'package.json');
    if (!existsSync(join(folder, file))) throw new Error(`${name} has no ${file}: npm run build`);
    return [file];
  });

/** The text that each licence demands to be included in copies. */
const licencesOfOthers = (one: Installed): string =>
  [...listNeeded([one]).values()]
    .filter((each) => !isOurs(each))
    .map((each) => `${idOf(each)} (${String(each.manifest.license)})\n\n${licenceTextOf(each)}`)
    .join(`\n\n${'-'.repeat(80)}\n\n`);

const licenceTextOf = ({ folder }: Installed): string =>
  readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|notice)/i.test(basename(name)))
    .map((name) => readFileSync(join(folder, name), 'utf8').trim())
    .join('\n\n');
