import { readFileSync } from 'node:fs';
import * as protocol from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import * as transparency from '../src/index.ts';

const modules: Readonly<Record<string, object>> = {
  '@svc/protocol': protocol,
  '@svc/transparency': transparency,
};

const readText = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
const blocks = [...readText('../README.md').matchAll(/^```js\n(.*?)^```$/gms)].map(([, block = '']) => block);

const vectors = JSON.parse(readText('../../../vectors/merkle.json'));
const { service_did_document: document } = JSON.parse(readText('../../../vectors/keys.json'));
const bundle = JSON.parse(readText('../../../examples/bundle/bundle.json'));
/** What the text of the README leaves to its reader. */
const given = {
  didDocument: document,
  jws: vectors.checkpoints[0].checkpoint,
  receiptId: bundle.inclusion.receipt_id,
  inclusion: bundle.inclusion,
  checkpoint: bundle.checkpoint,
  serviceDidDocument: bundle.did_document,
};

/** Imports become look-ups, so that a block runs against the sources. */
const run = async (block: string): Promise<string[]> => {
  const printed: string[] = [];
  const body = block.replace(
    /^import \{(.*?)\} from '(.*?)';$/gm,
    (_, names: string, from: string) => `const {${names}} = modules['${from}'];`,
  );
  const names = ['modules', 'console', ...Object.keys(given)];
  const console = { log: (...values: unknown[]) => void printed.push(values.join(' ')) };
  const start = new Function(...names, `return (async () => {${body}})()`);
  await start(modules, console, ...Object.values(given));
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
