import { expect, it, vi } from 'vitest';
import { SourceError } from './source.ts';

it('a SourceError of another copy of the package is an instance of SourceError, but not of a subclass', async () => {
  vi.resetModules();
  const other = (await import('./source.ts')) as typeof import('./source.ts');
  expect(other.SourceError).not.toBe(SourceError);
  class Narrower extends SourceError {}
  const cause = new Error('reset');
  const thrown = new other.SourceError('the connection was lost', { cause });
  expect(thrown).toBeInstanceOf(SourceError);
  expect(thrown).toMatchObject({ name: 'SourceError', message: 'the connection was lost', cause });
  expect(thrown).not.toBeInstanceOf(Narrower);
  for (const value of [new Error(''), null, {}, 'x']) expect(value instanceof SourceError).toBe(false);
});
