/** The manifest of a packed package: it has both kinds of module and needs no other package. */
import type { Manifest } from '../release/packages.ts';

type Entry = string | { readonly 'svc-source'?: string; readonly default?: string };

/** Members that concern the repository only. */
const DROPPED: readonly string[] = ['dependencies', 'devDependencies', 'exports', 'publishConfig', 'scripts'];

/** The manifest as it is published. */
export function buildPublishedManifest(manifest: Manifest): Readonly<Record<string, unknown>> {
  const kept = Object.fromEntries(Object.entries(manifest).filter(([name]) => !DROPPED.includes(name)));
  const entries = Object.entries((manifest.exports ?? {}) as Readonly<Record<string, Entry>>);
  const modules = entries.flatMap(([path, entry]) =>
    typeof entry === 'object' ? [[path, nameOf(entry)] as const] : [],
  );
  const files = entries.filter(([, entry]) => typeof entry === 'string' && !entry.startsWith('./src/'));
  const exports = Object.fromEntries([...modules.map(([path, name]) => [path, bothKinds(name)]), ...files]);
  return { ...kept, ...forOlderResolution(modules), exports, publishConfig: { access: 'public' } };
}

const nameOf = ({ default: file = '' }: Exclude<Entry, string>): string =>
  file.replace(/^\.\/dist\/(.+)\.js$/, '$1');

const bothKinds = (name: string) => ({
  import: { types: `./dist/${name}.d.ts`, default: `./dist/${name}.js` },
  require: { types: `./dist/${name}.d.cts`, default: `./dist/${name}.cjs` },
});

/** For `moduleResolution: node10`, which ignores `exports`: TypeScript's default with `module: CommonJS` before 6.0. */
function forOlderResolution(modules: readonly (readonly [path: string, name: string])[]): object {
  const paths = modules
    .filter(([path]) => path !== '.')
    .map(([path, name]) => [path.slice(2), [`./dist/${name}.d.cts`]]);
  const main = modules.find(([path]) => path === '.');
  if (main === undefined) return {};
  const types = paths.length === 0 ? {} : { typesVersions: { '*': Object.fromEntries(paths) } };
  return { main: `./dist/${main[1]}.cjs`, types: `./dist/${main[1]}.d.cts`, ...types };
}
