import { expect, it } from 'vitest';
import { ERROR_KINDS, SvcError } from '../src/errors.ts';
import { helpBase, helpful, withHelp } from '../src/help.ts';
import { KIND_TEXTS, REFUSAL_TEXTS } from '../src/help-texts.ts';
import { REFUSAL_CODES } from '../src/refusal-codes.ts';

const BASE = 'https://svc.example/';
const lost = () => new SvcError('timeout', 'lost');
const helpOf = async (work: () => unknown): Promise<unknown> => {
  try {
    await work();
    return 'nothing was thrown';
  } catch (error) {
    return error instanceof SvcError ? error.helpUrl : error;
  }
};

it('whichever way a member of a client fails, its error names the page about its kind', async () => {
  const client = helpful(
    {
      thrown: (): void => {
        throw lost();
      },
      async rejected(): Promise<void> {
        throw lost();
      },
      nested: {
        async *items(): AsyncGenerator<number> {
          yield 1;
          throw lost();
        },
      },
      value: 7,
    },
    BASE,
  );
  const page = 'https://svc.example/guide/kinds/timeout';
  expect(await helpOf(() => client.thrown())).toBe(page);
  expect(await helpOf(() => client.rejected())).toBe(page);
  const seen: number[] = [];
  const read = async () => {
    for await (const item of client.nested.items()) seen.push(item);
  };
  expect(await helpOf(read)).toBe(page);
  expect([seen, client.value]).toEqual([[1], 7]);
});

it('a generator that is left ends as it would without', async () => {
  let ended = false;
  const { items } = helpful(
    {
      async *items(): AsyncGenerator<number> {
        try {
          yield 1;
        } finally {
          ended = true;
        }
      },
    },
    BASE,
  );
  for await (const _ of items()) break;
  expect(ended).toBe(true);
});

it('an error over a service that cannot be reached names no page, which would be on that very host', async () => {
  const unreachable = new SvcError('network', 'connect ECONNREFUSED');
  expect(await helpOf(() => withHelp(BASE, () => Promise.reject(unreachable)))).toBeNull();
});

it('a page that the service has named stays, and what is no SvcError is left alone', async () => {
  const helpUrl = 'https://svc.example/guide/errors/FORBIDDEN';
  const refused = new SvcError('refused', 'no', { code: 'FORBIDDEN', helpUrl });
  expect(await helpOf(() => withHelp(BASE, () => Promise.reject(refused)))).toBe(helpUrl);
  const other = Object.freeze(new Error('x'));
  expect(await helpOf(() => withHelp(BASE, () => Promise.reject(other)))).toBe(other);
});

it.each<[unknown, string | null]>([
  ['https://svc.example', 'https://svc.example'],
  ['HTTPS://svc.example/base//?a#b', 'https://svc.example/base'],
  ['https://key:secret@svc.example', null],
  ['javascript:alert(1)', null],
  ['https://svc.example/<x>', null],
  ['svc', null],
  [null, null],
  [7, null],
])('of %j the pages are at %j: no key is told, and nothing that leaves a header', (address, base) => {
  expect(helpBase(address)).toBe(base);
});

it('every kind and every answer has its text, of sentences', () => {
  const all = [
    ...ERROR_KINDS.map((kind) => KIND_TEXTS[kind]),
    ...REFUSAL_CODES.map((code) => REFUSAL_TEXTS[code]),
  ];
  for (const { meaning, remedy } of all)
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z].{20,}\.$/);
});
