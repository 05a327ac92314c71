import { parseStrictJson } from '@svc/protocol';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonPathAt } from './json-path.ts';

const pathOf = (text: string) => {
  const parsed = parseStrictJson(text);
  if (parsed.ok) throw new Error('the text is strict JSON');
  return jsonPathAt(text, parsed.offset);
};

describe('The path to the member with a JSON fault', () => {
  it.each<readonly [string, readonly (string | number)[]]>([
    ['{"a":1.5}', ['a']],
    ['{"a":[1,{"b":{"c":"\\ud800"}}]}', ['a', 1, 'b', 'c']],
    ['{"a":{"x":1},"b":[[],[0,1e3]]}', ['b', 1, 1]],
    ['{"a":"x\\"]}","b":"\\u0000"}', ['b']],
    ['{"a":{"b":1,"b":2}}', ['a', 'b']],
    ['{"a":1,"\\u0061":2}', ['a']],
    ['{"a":1,}', []],
    ['{"a":', ['a']],
    ['{"a', []],
    ['x', []],
    ['', []],
  ])('is found in %s', (text, path) => expect(pathOf(text)).toEqual(path));

  it('is found for a fraction at any place', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1), (json, space) => {
        const marked = JSON.stringify({ before: json, at: [json, { here: 0.5 }] }, null, space);
        expect(jsonPathAt(marked, marked.lastIndexOf('0.5'))).toEqual(['at', 1, 'here']);
      }),
    );
  });

  it('is found after a string of 60,000 characters', () => {
    expect(pathOf(`{"a":"${'\\n'.repeat(30_000)}","b":1.5}`)).toEqual(['b']);
  });
});
