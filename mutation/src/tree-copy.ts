/**
 * A copy of the tree with its own dependencies. Mutants are written into the files themselves, so that every package
 * that imports them uses them.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pinnedPnpm } from '../../scripts/pinned-pnpm.mjs';

export interface TreeCopy {
  readonly folder: string;
  /** Runs a script of mutation/src in the copy, with its output shown. Returns whether it ended with 0. */
  runScript(file: string, ...parameters: string[]): boolean;
}

/** Passes `work` a copy of all files that git tracks or would add, and removes it afterwards. */
export function withCopy<T>(work: (copy: TreeCopy) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'svc-mutation-'));
  // With this listener an interrupt ends only the running child; then `run` below ends this process and removes its
  // copy.
  process.on('SIGINT', () => {});
  const run = (command: string, parameters: readonly string[]): boolean => {
    const { status, signal } = spawnSync(command, parameters, { cwd: folder, stdio: 'inherit' });
    if (signal !== null || status === 130) throw new Error('interrupted');
    return status === 0;
  };
  try {
    console.log('copying the tree and installing its dependencies');
    copyTree(folder);
    const pnpm = pinnedPnpm(folder);
    const install = [pnpm.program, 'install', '--frozen-lockfile', '--prefer-offline', '--silent'];
    if (!(run(...pnpm.prepare()) && run(process.execPath, install)))
      throw new Error('the dependencies did not install');
    const node = ['--conditions=svc-source', '--import', 'tsx'];
    return work({
      folder,
      runScript: (file, ...rest) => run(process.execPath, [...node, `mutation/src/${file}`, ...rest]),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyTree(folder: string): void {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const list = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  for (const file of list.split('\0').filter((one) => one !== ''))
    cpSync(join(root, file), join(folder, file), { recursive: true });
}
