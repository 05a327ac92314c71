/** Type-checks the examples of a README as in a user's project: in TypeScript, strict. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * The compiler's messages about the `js` blocks of the package's README, as `README-1.ts(line): message`. Each block is
 * a module of its own after its preamble, which imports and declares what the text leaves out. `files` of the package
 * are checked with the blocks.
 */
export function checkReadme(
  packageFolder: URL,
  preambles: readonly string[],
  files: readonly string[] = [],
): readonly string[] {
  const readme = readFileSync(new URL('README.md', packageFolder), 'utf8');
  const blocks = [...readme.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block = '']) => block);
  if (blocks.length !== preambles.length)
    return [`${blocks.length} blocks, but ${preambles.length} preambles`];
  const folder = fileURLToPath(packageFolder);
  const sources = new Map(
    blocks.map((block, n) => [`${folder}test/README-${n + 1}.ts`, `${preambles[n]};${block}\nexport {};`]),
  );
  return checkModules(
    sources,
    files.map((file) => folder + file),
  ).map((problem) => problem.slice(folder.length));
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
/** A line of the compiler with an error. */
const SAID = /^(.+)\((\d+),\d+\): error TS\d+: (.*)$/;

/**
 * The compiler's messages about these modules, which need not exist on disk, and these files, as `path(line): message`.
 * All modules are of one package.
 */
export function checkModules(
  sources: ReadonlyMap<string, string>,
  files: readonly string[] = [],
): readonly string[] {
  const [first = ''] = sources.keys();
  const home = join(ROOT, ...relative(ROOT, first).split(sep).slice(0, 2));
  // Inside the package, so that the modules find its dependencies.
  const cache = join(home, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'modules-'));
  try {
    const written = new Map([...sources.keys()].map((path) => [join(folder, basename(path)), path]));
    for (const [path, original] of written) writeFileSync(path, sources.get(original) ?? '');
    const config = {
      extends: join(ROOT, 'tsconfig.node.json'),
      include: [],
      files: [...written.keys(), ...files],
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const compiler = join(ROOT, 'node_modules', 'typescript-native', 'bin', 'tsc');
    const options = ['-p', folder, '--noEmit', '--pretty', 'false', '--incremental', 'false'];
    const { stdout, stderr, status } = spawnSync(process.execPath, [compiler, ...options], {
      ...{ cwd: folder, encoding: 'utf8', maxBuffer: 1 << 26 },
    });
    // An error without a position is one of the configuration, or of the compiler itself.
    const isWhole = [0, 1, 2].includes(status ?? -1) && !/^error /m.test(stdout);
    if (!isWhole) throw new Error(`${stdout}\n${stderr}`);
    const names = new Map([...written, ...files.map((file) => [file, file] as const)]);
    return stdout.split('\n').flatMap((line) => {
      const [, path = '', at, message] = SAID.exec(line) ?? [];
      // Modules that these import are checked with the tree.
      const name = names.get(resolve(folder, path));
      return name === undefined || message === undefined ? [] : [`${name}(${at}): ${message}`];
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
