// How packages are installed, in addition to the settings in pnpm-workspace.yaml.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const installChoices = [
  '--frozen-lockfile',
  '--prefer-offline',
  '--reporter=append-only',
  '--config.confirmModulesPurge=false',
  // An install script that nobody has reviewed fails the installation. Without this flag pnpm skips the script and
  // continues.
  '--config.strictDepBuilds=true',
];

/**
 * pnpm records in `node_modules` which install scripts it skipped, and continues to refuse those that were reviewed
 * since. This removes the entries of `ignoredBuiltDependencies` from that record, and nothing else.
 */
export function forgetReviewedBuilds(root) {
  const file = join(root, 'node_modules', '.modules.yaml');
  if (!existsSync(file)) return;
  const text = readFileSync(file, 'utf8');
  // pnpm writes it as JSON.
  const modules = text.startsWith('{') ? JSON.parse(text) : {};
  if (!Array.isArray(modules.ignoredBuilds)) return;
  const reviewed = reviewedIn(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'));
  const ignoredBuilds = modules.ignoredBuilds.filter(
    (id) => !reviewed.some((name) => id.startsWith(`${name}@`)),
  );
  if (ignoredBuilds.length === modules.ignoredBuilds.length) return;
  writeFileSync(file, JSON.stringify({ ...modules, ignoredBuilds }, null, 2));
}

/** A list of names, read without a parser, because this runs before anything is installed. */
function reviewedIn(settings) {
  const [, list = ''] = /^ignoredBuiltDependencies:\n((?: +- .*\n)*)/m.exec(settings) ?? [];
  return [...list.matchAll(/- "?([^"\n]+)"?/g)].map(([, name]) => name);
}
