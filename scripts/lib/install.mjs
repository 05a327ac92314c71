// Installs what the lock file says, if that has not been done yet.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { forgetReviewedBuilds, installChoices } from '../install-choices.mjs';
import { pinned, pnpm, root, step } from './spawn.mjs';

export const install = async () => {
  const stampFile = join(root, 'node_modules', '.svc-install-stamp');
  if (!pinned.isThere()) await step('fetching pnpm', ...pinned.prepare());
  const stamp = installStamp();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  forgetReviewedBuilds(root);
  await step('installing packages', ...pnpm('install', ...installChoices), { CI: 'true' });
  writeFileSync(stampFile, stamp);
};

/** A hash of everything that determines an installation. */
function installStamp() {
  const hash = createHash('sha256').update(
    `${pinned.program} ${process.version} ${process.platform} ${process.arch}`,
  );
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', ...manifests()];
  for (const file of files) {
    const path = join(root, file);
    hash.update(`\0${file}\0`).update(existsSync(path) ? readFileSync(path) : '');
  }
  return hash.digest('hex');
}

/** The package.json of the root and of every workspace package. */
function manifests() {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  return ['.', 'bench', 'examples', 'kits', 'mutation', 'vectors', ...folders.sort()]
    .map((folder) => join(folder, 'package.json'))
    .filter((file) => existsSync(join(root, file)));
}
