/**
 * Declarations of a published library, by the native compiler: one file for each source file that an entry reaches, those of
 * other packages of ours in a folder of their own, imported by path. Each is there for both kinds of module, `.d.ts` and `.d.cts`.
 */
import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PACKAGES = fileURLToPath(new URL('packages', import.meta.url));
const TSC = fileURLToPath(new URL('node_modules/typescript-native/bin/tsc', import.meta.url));

/** What an import names, such as `@svc/codec/native`, and its source below `packages`. */
type Sources = ReadonlyMap<string, string>;

/** Of the package that is the working folder; `entry` from there. */
export async function writeDeclarations(entry: readonly string[]): Promise<void> {
  const sources = listSources();
  const folder = mkdtempSync(join('node_modules', '.declarations-'));
  try {
    await compile(entry, sources, folder);
    const own = relative(PACKAGES, process.cwd());
    const placeOf = (name: string) => (name === own ? 'dist' : join('dist', name));
    for (const name of readdirSync(join(folder, 'out')))
      cpSync(join(folder, 'out', name, 'src'), placeOf(name), { recursive: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
  for (const file of readdirSync('dist', { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts')) writeBothKinds(join('dist', file), sources);
}

interface Manifest {
  readonly name: string;
  readonly exports?: Readonly<Record<string, string | { readonly 'svc-source'?: string }>>;
}

function listSources(): Sources {
  const sources = new Map<string, string>();
  for (const folder of readdirSync(PACKAGES)) {
    const file = join(PACKAGES, folder, 'package.json');
    if (!existsSync(file)) continue;
    const { name, exports = {} } = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
    for (const [path, target] of Object.entries(exports)) {
      const source = typeof target === 'string' ? target : target['svc-source'];
      if (source?.endsWith('.ts') && !path.includes('*')) sources.set(join(name, path), join(folder, source));
    }
  }
  return sources;
}

/** By their paths the sources of other packages are part of the program, so that theirs are written too. */
function compile(entry: readonly string[], sources: Sources, folder: string): Promise<unknown> {
  const config = join(folder, 'tsconfig.json');
  const compilerOptions = {
    declaration: true,
    emitDeclarationOnly: true,
    noEmit: false,
    // `npm run types` checks the whole tree.
    noCheck: true,
    types: ['node'],
    lib: ['es2023', 'webworker'],
    rootDir: PACKAGES,
    outDir: './out',
    paths: Object.fromEntries([...sources].map(([name, source]) => [name, [join(PACKAGES, source)]])),
  };
  const base = fileURLToPath(new URL('tsconfig.base.json', import.meta.url));
  const files = entry.map((file) => join(process.cwd(), file));
  writeFileSync(config, JSON.stringify({ extends: base, compilerOptions, files }));
  return promisify(execFile)(process.execPath, [TSC, '-p', config]).catch(({ stdout }) => {
    throw new Error(`the declarations do not compile: ${stdout}`);
  });
}

/** Files are named as they are once compiled, and packages of ours by their places here. */
function writeBothKinds(file: string, sources: Sources): void {
  const own = relative(PACKAGES, process.cwd());
  const placeOf = (source: string) => {
    const path = source.replace(/^([\w-]+)\/(?:\.\/)?src\//, (_, name) => (name === own ? '' : `${name}/`));
    const from = relative(dirname(file), join('dist', path)).replaceAll('\\', '/');
    return from.startsWith('.') ? from : `./${from}`;
  };
  const text = readFileSync(file, 'utf8')
    .replaceAll(/(['"])(@svc\/[\w/-]+)\1/g, (found, quote: string, name: string) => {
      const source = sources.get(name);
      return source === undefined ? found : `${quote}${placeOf(source)}${quote}`;
    })
    .replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.ts\1/g, '$1$2.js$1');
  writeFileSync(file, text);
  const common = text.replaceAll(/(['"])(\.{1,2}\/[^'"]+)\.js\1/g, '$1$2.cjs$1');
  writeFileSync(file.replace(/\.d\.ts$/, '.d.cts'), common);
}
