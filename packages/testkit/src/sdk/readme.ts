/** The examples of a README, type-checked as a user would write them: in TypeScript, strict. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * What the compiler says about the `js` blocks of the package's README, as `README-1.ts(line): message`. Each block is
 * a module of its own behind its preamble, which imports and declares what the text leaves out. `files` of the
 * package are checked with them.
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

/** What was read once, by path: the libraries of TypeScript and Node are most of a check. */
const parsed = new Map<string, ts.SourceFile>();

/** What the compiler says about these modules, which need not be there, and these files, as `path(line): message`. */
export function checkModules(
  sources: ReadonlyMap<string, string>,
  files: readonly string[] = [],
): readonly string[] {
  const root = fileURLToPath(new URL('../../../../', import.meta.url));
  const { config } = ts.readConfigFile(`${root}tsconfig.node.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => sources.has(path) || fileExists(path);
  host.getSourceFile = (path, languageVersion, ...rest) => {
    const text = sources.get(path);
    if (text !== undefined) return ts.createSourceFile(path, text, languageVersion);
    const known = parsed.get(path) ?? getSourceFile(path, languageVersion, ...rest);
    if (known !== undefined) parsed.set(path, known);
    return known;
  };
  const program = ts.createProgram([...sources.keys(), ...files], options, host);
  // What they import is checked with the tree; here it would cost seconds.
  const diagnostics = program
    .getRootFileNames()
    .flatMap((name) => ts.getPreEmitDiagnostics(program, program.getSourceFile(name)));
  return diagnostics.map(({ file, start, messageText }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1;
    const message = ts.flattenDiagnosticMessageText(messageText, ' ');
    return `${file?.fileName ?? ''}(${line}): ${message}`;
  });
}
