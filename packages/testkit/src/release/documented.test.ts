/** What an editor shows of a published package: every export has a docstring, and so has every method of what is exported. */
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';

interface Installed {
  readonly folder: string;
  readonly manifest: { readonly exports?: Readonly<Record<string, string | Entry>> };
}
interface Entry {
  readonly 'svc-source': string;
}
const { listPublished, ROOT } = (await import(
  new URL('../../../../scripts/release/packages.ts', import.meta.url).href
)) as { listPublished(): readonly Installed[]; readonly ROOT: string };

const entries = listPublished().flatMap(({ folder, manifest: { exports = {} } }) =>
  Object.values(exports).flatMap((entry) =>
    typeof entry === 'object' ? [join(folder, entry['svc-source'])] : [],
  ),
);

/** Our own sources alone: what others declare is not looked at, and would take most of the time. */
function readSources(files: readonly string[], texts: ReadonlyMap<string, string> = new Map()): ts.Program {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    customConditions: ['svc-source'],
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (file) => texts.get(file) ?? readFile(file);
  host.fileExists = (file) => texts.has(file) || fileExists(file);
  host.resolveModuleNameLiterals = (literals, from) =>
    literals.map(({ text }) =>
      /^(?:\.|@svc\/)/.test(text)
        ? ts.resolveModuleName(text, from, options, host)
        : { resolvedModule: undefined },
    );
  return ts.createProgram(files, options, host);
}

function listUndocumented(program: ts.Program, files: readonly string[]): readonly string[] {
  const checker = program.getTypeChecker();
  const isDocumented = (symbol: ts.Symbol) => symbol.getDocumentationComment(checker).length > 0;
  const exported = new Set(
    files.flatMap((file) => {
      const source = program.getSourceFile(file);
      const module = source && checker.getSymbolAtLocation(source);
      return module === undefined ? [] : checker.getExportsOfModule(module).map(resolve);
    }),
  );
  function resolve(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }
  const nameOf = (symbol: ts.Symbol, of = '') => {
    const file = symbol.declarations?.[0]?.getSourceFile().fileName ?? '';
    return `${file.slice(ROOT.length)}: ${of}${symbol.name}`;
  };
  return [...exported].flatMap((symbol) => [
    ...(isDocumented(symbol) ? [] : [nameOf(symbol)]),
    ...(symbol.declarations ?? [])
      .flatMap(listMethods)
      .flatMap(({ name }) => checker.getSymbolAtLocation(name) ?? [])
      .filter((method) => !isDocumented(method))
      .map((method) => nameOf(method, `${symbol.name}.`)),
  ]);
}

/** Members that are called, private ones aside. What a value is called mostly says what it is. */
function listMethods(declaration: ts.Declaration) {
  if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return [];
  return [...declaration.members].flatMap((member) => {
    const isCalled =
      ts.isMethodSignature(member) ||
      ts.isMethodDeclaration(member) ||
      (ts.isPropertySignature(member) && member.type !== undefined && ts.isFunctionTypeNode(member.type));
    const { name } = member;
    return isCalled && name !== undefined && ts.isIdentifier(name) ? [{ name }] : [];
  });
}

it('every export of a published package, and every method of one, has a docstring', () => {
  const program = readSources(entries);
  expect(listUndocumented(program, entries)).toEqual([]);
});

it('one without is named, wherever it is declared', () => {
  const file = join(ROOT, 'scripts', 'index.ts');
  const inner = join(ROOT, 'scripts', 'inner.ts');
  const texts = new Map([
    [file, `export { one, type Two } from './inner.ts';\n/** Known. */ export const three = 3;`],
    [inner, `export const one = 1;\n/** Known. */ export interface Two { known: string; ask(): void }`],
  ]);
  const found = listUndocumented(readSources([file], texts), [file]);
  expect(found).toEqual(['scripts/inner.ts: one', 'scripts/inner.ts: Two.ask']);
});
