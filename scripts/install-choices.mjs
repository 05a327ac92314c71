// How packages are installed here, beside what pnpm-workspace.yaml says.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export const installChoices = [
  '--frozen-lockfile',
  '--prefer-offline',
  '--reporter=append-only',
  '--config.confirmModulesPurge=false',
  // An install script that nobody has reviewed ends the installation; without this pnpm leaves it out and goes on.
  '--config.strictDepBuilds=true',
];

/**
 * pnpm remembers in `node_modules` which install scripts it has left out, and goes on refusing those that have been reviewed
 * since. Takes what stands in `ignoredBuiltDependencies` out of that memory, and nothing else.
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

/** A list of names, read without a parser: this runs before anything is installed. */
function reviewedIn(settings) {
  const [, list = ''] = /^ignoredBuiltDependencies:\n((?: +- .*\n)*)/m.exec(settings) ?? [];
  return [...list.matchAll(/- "?([^"\n]+)"?/g)].map(([, name]) => name);
}
