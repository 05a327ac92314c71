import fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinPointer } from './json-pointer.ts';

/** RFC 6901 §4: split at `/`, then `~1` before `~0`. */
const readTokens = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

it('joinPointer writes the pointers of RFC 6901 §5', () => {
  const names = ['foo', '', 'a/b', 'c%d', 'e^f', 'g|h', 'i\\j', 'k"l', ' ', 'm~n'];
  expect(names.map((name) => joinPointer('', name))).toEqual([
    '/foo',
    '/',
    '/a~1b',
    '/c%d',
    '/e^f',
    '/g|h',
    '/i\\j',
    '/k"l',
    '/ ',
    '/m~0n',
  ]);
  expect(joinPointer('/foo', '0')).toBe('/foo/0');
});

it('joinPointer writes pointers from which the same names are read back', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('~', '/', '0', '1', 'x') })), (names) => {
      expect(readTokens(names.reduce(joinPointer, ''))).toEqual(names);
    }),
  );
});
