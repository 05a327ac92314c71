/**
 * What an editor shows of a published package: every export and each of its methods has a docstring, parameters have
 * meaningful names, examples compile.
 */
import { join } from 'node:path';
import { checkModules } from '@svc/testkit/sdk/readme';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { listPublished, ROOT } from '../../release/packages.ts';

interface Entry {
  readonly 'svc-source': string;
}
interface EntryFile {
  readonly file: string;
  /** The name under which it is imported. */
  readonly specifier: string;
}
const entryFiles: readonly EntryFile[] = listPublished().flatMap(
  ({ folder, manifest: { name, exports = {} } }) =>
    Object.entries(exports as Readonly<Record<string, string | Entry>>).flatMap(([path, entry]) =>
      typeof entry === 'object'
        ? [{ file: join(folder, entry['svc-source']), specifier: name + path.slice(1) }]
        : [],
    ),
);
const entries = entryFiles.map(({ file }) => file);

/** Only our own sources, because the declarations of others would take most of the time. */
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

/** Members that can be called, except private ones. Other members mostly have a name that describes them. */
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

const program = readSources(entries);

it('every export of a published package, and every method of an export, has a docstring', () => {
  expect(listUndocumented(program, entries)).toEqual([]);
});

it('every member of Verdict has a docstring, in each of its kinds', () => {
  const checker = program.getTypeChecker();
  const file = entryFiles.find(({ specifier }) => specifier === '@svc/sdk-rp')?.file ?? '';
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const verdict = (module ? checker.getExportsOfModule(module) : []).find(({ name }) => name === 'Verdict');
  const type = checker.getDeclaredTypeOfSymbol(checker.getAliasedSymbol(verdict as ts.Symbol));
  const kinds = type.isUnion() ? type.types : [];
  const members = kinds.flatMap((kind) => kind.getProperties());
  expect(members.map(({ name }) => name)).toEqual(expect.arrayContaining(['allowed', 'reason', 'authority']));
  const bare = members.filter((member) => member.getDocumentationComment(checker).length === 0);
  expect(bare.map(({ name }) => name)).toEqual([]);
});

interface Shown {
  readonly name: string;
  /** The names of its parameters, as an editor shows them. */
  readonly parameters: readonly string[];
  readonly example: string | null;
  /** The import of the entry's exports, which an example may use. */
  readonly imports: string;
}

/** Functions and methods that can be called from outside. */
function listShown(program: ts.Program, { file, specifier }: EntryFile): readonly Shown[] {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
  const values = symbols.map(resolveAlias).filter(({ flags }) => (flags & ts.SymbolFlags.Value) !== 0);
  const imports = `import { ${values.map(({ name }) => name).join(', ')} } from '${file}';`;
  const show = (name: string, symbol: ts.Symbol): readonly Shown[] => {
    const declarations = symbol.declarations ?? [];
    const parameters = declarations.flatMap(listParameters).map((one) => one.name.getText());
    const tag = symbol.getJsDocTags(checker).find((one) => one.name === 'example');
    const example = tag === undefined ? null : ts.displayPartsToString(tag.text);
    return [{ name, parameters, example, imports }];
  };
  return symbols.map(resolveAlias).flatMap((symbol) => {
    const methods = (symbol.declarations ?? [])
      .flatMap(listMethods)
      .flatMap(({ name }) => checker.getSymbolAtLocation(name) ?? []);
    return [
      ...show(`${specifier} ${symbol.name}`, symbol),
      ...methods.flatMap((method) => show(`${specifier} ${symbol.name}.${method.name}`, method)),
    ];
  });
  function resolveAlias(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }
}

function listParameters(declaration: ts.Declaration): readonly ts.ParameterDeclaration[] {
  const called = ts.isVariableDeclaration(declaration)
    ? declaration.initializer
    : ts.isPropertySignature(declaration)
      ? declaration.type
      : declaration;
  return called !== undefined && ts.isFunctionLike(called) ? [...called.parameters] : [];
}

const shown = entryFiles.flatMap((entry) => listShown(program, entry));

it('no parameter of a published function has a meaningless name', () => {
  const nameless = shown.flatMap(({ name, parameters }) =>
    parameters
      .filter((one) => /\b(?:given|args?|opts|obj|params|tmp|[a-z])\b/.test(one))
      .map((one) => `${name}: ${one}`),
  );
  expect(nameless).toEqual([]);
});

/** Frameworks and both SDKs are installed here. */
const WHERE = join(ROOT, 'packages', 'sdk-rp', 'test');

/** What examples may assume to exist. */
const AT_HAND = `
import express from 'express';
declare const verifier: import('@svc/sdk-rp').Verifier;
declare const client: import('@svc/sdk-principal').PrincipalClient;
declare const agent: import('@svc/sdk-principal/agent').Agent;
declare const privateJwk: import('@svc/sdk-principal').Ed25519PrivateJwk;
declare const capabilities: readonly import('@svc/sdk-principal').Capability[];
declare const action: import('@svc/sdk-rp').Action;
declare const vectors: import('${ROOT}packages/conformance/src/index.ts').VectorSet;
declare const transport: import('${ROOT}packages/conformance/src/index.ts').Transport;
declare const evidence: ReadonlyMap<string, string>;
declare const grant: string, proof: string, grantId: string, url: string, kid: string, jws: string, body: string;
declare const headers: Record<string, string>;
declare const request: Request;
declare const receipt: unknown, bundle: unknown, inclusion: unknown, didDocument: unknown;
declare const answer: (response: Response) => void, refuse: (reason: string) => void;
`;
const FRAMEWORK: Readonly<Record<string, string>> = {
  '@svc/sdk-rp/express': "declare const app: import('express').Express;",
  '@svc/sdk-rp/fastify': "declare const app: import('fastify').FastifyInstance;",
  '@svc/sdk-rp/mcp': `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
    declare const refund: () => { content: [] };`,
  '@svc/sdk-principal/agent':
    "declare const mcp: import('@modelcontextprotocol/sdk/client/index.js').Client;",
};

it('the main entry points have an example, and every example compiles', () => {
  const examples = shown.filter(({ example }) => example !== null);
  expect(examples.map(({ name }) => name)).toEqual(expect.arrayContaining(MAIN));
  const sources = examples.map(({ name, example, imports }, n) => {
    const [specifier = ''] = name.split(' ');
    const file = join(WHERE, `${n} ${name.replace('/', ' ')}.ts`);
    const outside = `${AT_HAND}${FRAMEWORK[specifier] ?? ''}`.replaceAll('\n', ' ');
    // In its own block, an example may use any names for its variables.
    const isExporting = /^export /m.test(example ?? '');
    const code = isExporting ? example : `{\n${example}\n}\nexport {};`;
    return [file, `${imports} ${outside}\n${code}`] as const;
  });
  const wrong = join(WHERE, 'wrong.ts');
  const withWrong = [...sources, [wrong, `\nconst text: string = 1;\nexport {};`] as const];
  expect(checkModules(new Map(withWrong))).toEqual([
    `${wrong}(2): Type 'number' is not assignable to type 'string'.`,
  ]);
}, 240_000);

/** The functions with which a user begins. */
const MAIN = [
  '@svc/sdk-rp createVerifier',
  '@svc/sdk-rp Verifier.verify',
  '@svc/sdk-rp checkReceipt',
  '@svc/sdk-rp/express requireAuthority',
  '@svc/sdk-rp/fastify requireAuthority',
  '@svc/sdk-rp/fetch createAuthorizer',
  '@svc/sdk-rp/fetch protect',
  '@svc/sdk-rp/mcp guardTools',
  '@svc/sdk-principal createPrincipalClient',
  '@svc/sdk-principal Grants.issue',
  '@svc/sdk-principal purchase',
  '@svc/sdk-principal signerFromJwk',
  '@svc/sdk-principal/agent createAgentFetch',
  '@svc/sdk-principal/agent createToolCaller',
  '@svc/sdk-principal/agent agentFromJwk',
  '@svc/sdk-principal/agent signProof',
  '@svc/receipts verifyReceipt',
  '@svc/receipts/audit audit',
  '@svc/receipts/bundle verifyBundle',
  '@svc/receipts/inclusion verifyIncludedReceipt',
  '@svc/testing createTestService',
  '@svc/transparency verifyCheckpoint',
  '@svc/conformance runConformance',
];

it('the check reports an export or a method without a docstring, wherever it is declared', () => {
  const file = join(ROOT, 'scripts', 'index.ts');
  const inner = join(ROOT, 'scripts', 'inner.ts');
  const texts = new Map([
    [file, `export { one, type Two } from './inner.ts';\n/** Known. */ export const three = 3;`],
    [inner, `export const one = 1;\n/** Known. */ export interface Two { known: string; ask(): void }`],
  ]);
  const found = listUndocumented(readSources([file], texts), [file]);
  expect(found).toEqual(['scripts/inner.ts: one', 'scripts/inner.ts: Two.ask']);
});
