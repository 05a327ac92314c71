import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as merkle from '../src/index.ts';

const modules: Readonly<Record<string, object>> = {
  '@svc/merkle': merkle,
};

const readText = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const blocks = [...readText('../README.md').matchAll(/^```js\n(.*?)^```$/gms)].map(([, block = '']) => block);

/** Imports become look-ups, so that a block runs against the sources. */
const run = async (block: string): Promise<string[]> => {
  const printed: string[] = [];
  const body = block.replace(
    /^import \{(.*?)\} from '(.*?)';$/gm,
    (_, names: string, from: string) => `const {${names}} = modules['${from}'];`,
  );
  const console = { log: (...values: unknown[]) => void printed.push(values.join(' ')) };
  const start = new Function('modules', 'console', `return (async () => {${body}})()`);
  await start(modules, console);
  return printed;
};

describe('the examples of the README', () => {
  it.each(blocks.map((block, i) => [i + 1, block] as const))(
    'number %i runs and prints what it says',
    async (_, block) => {
      const said = [...block.matchAll(/console\.log\(.*\);? \/\/ (.*)$/gm)].map(([, text]) => text);
      expect(said.length).toBeGreaterThan(0);
      expect(await run(block)).toEqual(said);
    },
  );
});
