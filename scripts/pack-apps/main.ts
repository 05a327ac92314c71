/**
 * `npm run pack:apps`: writes each program as a folder that runs with Node alone. Its dependencies are in one file,
 * with the files that it reads beside it. Run after `npm run build`. Options: `--out FOLDER` (packed), `--only NAME`,
 * `--from FOLDER` (the build, for one program).
 */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bundleProgram } from '../pack/bundle.ts';
import { listNeeded, readPackage } from '../release/packages.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const APPS = ['api', 'worker', 'conformance-runner', 'admin'] as const;
const MAX_BYTES = 30 * 1_048_576;

/** The second file is a thread that the first one starts. */
const PROGRAMS = ['main.js', 'read-thread.js'] as const;
const BESIDE = ['migrations', 'pages', 'vectors'] as const;

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: join(ROOT, 'packed') },
    only: { type: 'string' },
    from: { type: 'string' },
  },
});

const packApp = (app: string, from: string, out: string): void => {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  for (const program of PROGRAMS)
    if (existsSync(join(from, program))) bundleProgram(join(from, program), join(out, program));
  for (const name of BESIDE)
    if (existsSync(join(from, name))) cpSync(join(from, name), join(out, name), { recursive: true });
  copyZstd(app, out);
  copyKoffi(app, out);
  copySodium(app, out);
  cpSync(join(ROOT, 'LICENSE'), join(out, 'LICENSE'));
  const { name, version, license } = JSON.parse(
    readFileSync(join(ROOT, 'apps', app, 'package.json'), 'utf8'),
  );
  writeFileSync(
    join(out, 'package.json'),
    `${JSON.stringify({ name, version, license, type: 'module' }, null, 2)}\n`,
  );
};

/** The library looks for this file in its own folder, which is then that of the program. */
const copyZstd = (app: string, out: string): void => {
  const folder = findFolder(app, '@bokuweb/zstd-wasm');
  if (folder !== null) cpSync(join(folder, 'zstd.wasm'), join(out, 'zstd.wasm'));
};

/** With the binary of this platform only. Without a binary, keys in a token are refused with a message. */
const copyKoffi = (app: string, out: string): void => {
  const folder = findFolder(app, 'koffi');
  if (folder === null) return;
  const binary = join(folder, '..', '@koromix');
  const keep = (path: string) => !/[\\/](?:doc|vendor|build)(?:[\\/]|$)/.test(path.slice(folder.length));
  cpSync(folder, join(out, 'node_modules', 'koffi'), { recursive: true, dereference: true, filter: keep });
  if (existsSync(binary))
    cpSync(binary, join(out, 'node_modules', '@koromix'), { recursive: true, dereference: true });
};

/** The same, with the packages that find the binary. Without a binary, node:crypto is used. */
const copySodium = (app: string, out: string): void => {
  const folder = findFolder(app, 'sodium-native');
  if (folder === null) return;
  const here = `prebuilds/${process.platform}-${process.arch}`;
  const isWanted = (name: string) =>
    /^(?:$|prebuilds$|package\.json$|LICENSE|[^/]+\.js$|lib(?:$|\/))/.test(name) ||
    name === here ||
    name === `${here}/sodium-native.node`;
  for (const { folder: from, manifest } of listNeeded([readPackage(folder)]).values())
    cpSync(from, join(out, 'node_modules', manifest.name), {
      recursive: true,
      filter: (path) => isWanted(relative(from, path).replaceAll('\\', '/')),
    });
};

const findFolder = (app: string, name: string): string | null => {
  try {
    const require = createRequire(join(ROOT, 'apps', app, 'package.json'));
    // Both packages have their main file in their top folder; koffi does not export its package.json.
    return dirname(require.resolve(name));
  } catch {
    return null;
  }
};

const bytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);

for (const app of values.only === undefined ? APPS : [values.only]) {
  const out = resolve(values.out, app);
  packApp(app, resolve(values.from ?? join(ROOT, 'apps', app, 'dist')), out);
  const bytes = bytesIn(out);
  console.log(`${out}: ${(bytes / 1_048_576).toFixed(1)} MB`);
  if (bytes > MAX_BYTES) throw new Error(`${app} is larger than ${MAX_BYTES / 1_048_576} MB`);
}
