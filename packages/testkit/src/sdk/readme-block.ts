/** Blocks of a README as they stand, executed: imports become look-ups, so that they run against the sources. */
import { readFileSync } from 'node:fs';

/** A fenced block of a Markdown text: what stands behind the fence, and its lines. */
export interface Block {
  readonly language: string;
  readonly code: string;
}

/** Every fenced block, those within lists too. */
export const fencedBlocks = (markdown: string): readonly Block[] =>
  [...markdown.matchAll(/^( *)```([^\n`]*)\n(.*?)^ *```$/gms)].map(
    ([, indent = '', language = '', text = '']) => ({
      language: language.trim(),
      code: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );

type Names = Readonly<Record<string, unknown>>;

/** The JavaScript blocks of a package's README, in order. */
export const blocksOf = (name: string): readonly string[] =>
  [
    ...readFileSync(new URL(`../../../${name}/README.md`, import.meta.url), 'utf8').matchAll(
      /^```js\n(.*?)^```$/gms,
    ),
  ].map(([, block = '']) => block);

/** The first block of it that has this text. */
export const blockWith = (name: string, text: string): string => {
  const found = blocksOf(name).find((block) => block.includes(text));
  if (found === undefined) throw new Error(`no block of ${name} has ${text}`);
  return found;
};

export interface BlockOptions {
  /** What its imports lead to. */
  readonly modules: Readonly<Record<string, object>>;
  /** Names that the text leaves to its reader. */
  readonly given?: Names;
  /** What the text calls things, and what they are here. Each must occur. */
  readonly replaced?: Names;
  /** Names of the block that are answered. */
  readonly wanted?: string;
}

export interface BlockResult<Wanted> {
  /** What it wrote to the console, and what its comments behind `console.log` say that it writes. */
  readonly printed: readonly string[];
  readonly said: readonly string[];
  readonly wanted: Wanted;
}

export async function runBlock<Wanted extends object>(
  block = '',
  { modules, given = {}, replaced = {}, wanted = '' }: BlockOptions,
): Promise<BlockResult<Wanted>> {
  const printed: string[] = [];
  const console = {
    log: (...values: unknown[]) =>
      void printed.push(
        values.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))).join(' '),
      ),
  };
  const all = { modules, console, ...given };
  const body = Object.entries(replaced)
    .reduce((text, [from, to]) => {
      if (!text.includes(from)) throw new Error(`the block does not say ${from}`);
      return text.replaceAll(from, String(to));
    }, block)
    .replace(/^import \{(.*?)\} from '(.*?)';/gms, "const {$1} = modules['$2'];")
    .replace(/^import (\w+) from '.*';$/gm, '')
    .replace(/^export const/gm, 'const');
  const start = new Function(...Object.keys(all), `return (async () => {${body}\nreturn {${wanted}};})()`);
  const said = [...block.matchAll(/console\.log\(.*\);? \/\/ (.*)$/gm)].map(([, text = '']) => text);
  return { printed, said, wanted: await start(...Object.values(all)) };
}
