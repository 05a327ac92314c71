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

it('an error has the page about its kind, whichever way a member of a client fails', async () => {
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

it('leaving a generator early runs its finally block', async () => {
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

it('a network error has no page, because the page would be on the same host', async () => {
  const unreachable = new SvcError('network', 'connect ECONNREFUSED');
  expect(await helpOf(() => withHelp(BASE, () => Promise.reject(unreachable)))).toBeNull();
});

it('a page that the service named is kept, and an error that is no SvcError is not changed', async () => {
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
])('for the address %j the base of the pages is %j', (address, base) => {
  expect(helpBase(address)).toBe(base);
});

it('every kind and every code has a meaning and a remedy in sentences', () => {
  const all = [
    ...ERROR_KINDS.map((kind) => KIND_TEXTS[kind]),
    ...REFUSAL_CODES.map((code) => REFUSAL_TEXTS[code]),
  ];
  for (const { meaning, remedy } of all)
    for (const text of [meaning, remedy]) expect(text).toMatch(/^[A-Z].{20,}\.$/);
});
