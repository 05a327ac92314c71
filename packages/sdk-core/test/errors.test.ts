import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import * as errors from '../src/errors.ts';

it('SvcError is one class, in however many packages it is', async () => {
  vi.resetModules();
  const copy = (await import('../src/errors.ts')) as typeof errors;
  expect(copy).not.toBe(errors);
  expect(copy.SvcError).toBe(errors.SvcError);
  expect(errors.SvcError.name).toBe('SvcError');
});

it('one that another realm or version threw is one too; what extends it is asked by its own class', () => {
  const mark = Symbol.for('@svc/SvcError');
  const { SvcError } = errors;
  class Narrower extends SvcError {}
  expect(runInNewContext('Object.assign(new Error(), { [mark]: true })', { mark })).toBeInstanceOf(SvcError);
  expect(new Narrower('refused', '')).toBeInstanceOf(SvcError);
  expect(new SvcError('refused', '')).not.toBeInstanceOf(Narrower);
  for (const other of [new Error(''), null, {}, 'x']) expect(other instanceof SvcError).toBe(false);
});
