/** Executes blocks of a README unchanged, except that imports become look-ups, so that they run against the sources. */
import { readFileSync } from 'node:fs';

/** A fenced block of a Markdown text: the text after the fence, and its lines. */
export interface Block {
  readonly language: string;
  readonly code: string;
}

/** Every fenced block, also within lists. */
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

/** The first JavaScript block of the package's README with this text. */
export const blockWith = (name: string, text: string): string => {
  const found = blocksOf(name).find((block) => block.includes(text));
  if (found === undefined) throw new Error(`no block of ${name} has ${text}`);
  return found;
};

export interface BlockOptions {
  /** The modules that the block's imports resolve to. */
  readonly modules: Readonly<Record<string, object>>;
  /** Names that the text leaves to its reader to define. */
  readonly given?: Names;
  /** Texts in the block and their replacements. Each must occur. */
  readonly replaced?: Names;
  /** Names of the block whose values are returned. */
  readonly wanted?: string;
}

export interface BlockResult<Wanted> {
  /** What the block wrote to the console, and what its comments after `console.log` say it writes. */
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
