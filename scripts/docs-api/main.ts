/**
 * `npm run docs:api [-- FOLDER]`: writes the API reference of all published packages, one module for each entry. Ends
 * with 1 if something has no docstring, or if a link in a docstring leads nowhere.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Application, type DocumentationEntryPoint, LogLevel, ReflectionKind } from 'typedoc';
import ts from 'typescript';
import { listPublished, ROOT } from '../release/packages.ts';

type Entry = string | { readonly 'svc-source'?: string };

const [folder = join(ROOT, '.data', 'docs-api')] = process.argv.slice(2);

/** The source of each entry, by the name under which it is imported. */
const sources = new Map(
  listPublished().flatMap(({ folder: home, manifest: { name, exports = {} } }) =>
    Object.entries(exports as Readonly<Record<string, Entry>>).flatMap(([path, entry]) => {
      const source = typeof entry === 'object' ? entry['svc-source'] : undefined;
      return source === undefined ? [] : [[join(name, path), { home, file: join(home, source) }] as const];
    }),
  ),
);

const { config } = ts.readConfigFile(join(ROOT, 'tsconfig.base.json'), (file) => readFileSync(file, 'utf8'));
const { options } = ts.convertCompilerOptionsFromJson(
  { ...config.compilerOptions, types: ['node'], lib: ['ES2023', 'WebWorker'] },
  ROOT,
);
const program = ts.createProgram(
  [...sources.values()].map(({ file }) => file),
  options,
);

const app = await Application.bootstrap({
  name: 'svc',
  readme: 'none',
  disableSources: true,
  excludePrivate: true,
  validation: { notDocumented: true, invalidLink: true, notExported: false },
  requiredToBeDocumented: ['Function', 'Class', 'Interface', 'TypeAlias', 'Variable', 'Method'],
  logLevel: LogLevel.Warn,
});
const entryPoints = [...sources].map(([displayName, { file }]): DocumentationEntryPoint => {
  const sourceFile = program.getSourceFile(file);
  if (sourceFile === undefined) throw new Error(`${displayName} has no source ${file}`);
  return { displayName, program, sourceFile };
});
const project = app.converter.convert(entryPoints);
for (const module of project.getChildrenByKind(ReflectionKind.Module))
  module.readme = [{ kind: 'text', text: readmeOf(module.name) }];
app.validate(project);
await app.generateDocs(project, resolve(folder));
console.log(`The reference is in ${resolve(folder)}`);
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;

/** The introduction in the README of the entry's package. Links to other files of the repository become plain text. */
function readmeOf(name: string): string {
  const { home } = sources.get(name) ?? { home: ROOT };
  const readme = readFileSync(join(home, 'README.md'), 'utf8');
  return readme.replace(/^# .*\n/, '').replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
}
