import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { readAnswer, readHelpUrl } from '../src/answer.ts';
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

it('a refusal names the page about its code, as the answer links to it', () => {
  const url = 'https://svc.example/guide/errors/FORBIDDEN';
  const headers = { link: `<${url}>; rel="help"` };
  const body = '{"error":"FORBIDDEN","message":"No."}';
  const told = readAnswer(new Response(null, { status: 403, headers }), body, 0);
  expect(told).toMatchObject({ error: { code: 'FORBIDDEN', helpUrl: url } });
  expect(readAnswer(new Response(null, { status: 403 }), body, 0)).toMatchObject({
    error: { helpUrl: null },
  });
});

it.each([
  ['<https://a.example/x>; rel="next", <https://a.example/y>;rel=help', 'https://a.example/y'],
  ['<https://a.example/x>; rel="next"', null],
  ['<https://a.example/x>; rel="helpless"', null],
  ['<javascript:alert(1)>; rel="help"', null],
  [`<https://a.example/${'x'.repeat(600)}>; rel="help"`, null],
  ['<https://a.example/"onclick=x>; rel="help"', null],
  [null, null],
])('of %s the help is %s', (link, url) => {
  expect(readHelpUrl(link)).toBe(url);
});
