import { readFileSync } from 'node:fs';
import { runInNewContext } from 'node:vm';
import { expect, it, vi } from 'vitest';
import { readAnswer, readHelpUrl } from '../src/answer.ts';
import * as errors from '../src/errors.ts';

it('SvcError is the same class in every copy of the package', async () => {
  vi.resetModules();
  const copy = (await import('../src/errors.ts')) as typeof errors;
  expect(copy).not.toBe(errors);
  expect(copy.SvcError).toBe(errors.SvcError);
  expect(errors.SvcError.name).toBe('SvcError');
});

it('an error of another realm or version is an SvcError by its mark, and no SvcError is an instance of a subclass', () => {
  const mark = Symbol.for('@svc/SvcError');
  const { SvcError } = errors;
  class Narrower extends SvcError {}
  expect(runInNewContext('Object.assign(new Error(), { [mark]: true })', { mark })).toBeInstanceOf(SvcError);
  expect(new Narrower('refused', '')).toBeInstanceOf(SvcError);
  expect(new SvcError('refused', '')).not.toBeInstanceOf(Narrower);
  for (const other of [new Error(''), null, {}, 'x']) expect(other instanceof SvcError).toBe(false);
});

it('a refusal has the helpUrl of its Link header', () => {
  const url = 'https://svc.example/guide/errors/FORBIDDEN';
  const headers = { link: `<${url}>; rel="help"` };
  const body = '{"error":"FORBIDDEN","message":"No."}';
  const told = readAnswer(new Response(null, { status: 403, headers }), body, 0);
  expect(told).toMatchObject({ error: { code: 'FORBIDDEN', helpUrl: url } });
  expect(readAnswer(new Response(null, { status: 403 }), body, 0)).toMatchObject({
    error: { helpUrl: null },
  });
});

/** The kits of other languages are tested with the same values. */
const shared: {
  readonly retry_after: readonly { readonly value: string; readonly seconds: number | null }[];
  readonly link: readonly { readonly value: string; readonly url: string | null }[];
} = JSON.parse(readFileSync(new URL('../../../kits/answer-headers.json', import.meta.url), 'utf8'));

it.each(shared.retry_after)('Retry-After: $value is a pause of $seconds s', ({ value, seconds }) => {
  const headers = { 'retry-after': value };
  expect(readAnswer(new Response(null, { status: 429, headers }), '{}', Date.now())).toMatchObject({
    error: { retryAfterSeconds: seconds },
  });
});

it.each(shared.link)('Link: $value gives the helpUrl $url', ({ value, url }) => {
  expect(readHelpUrl(value)).toBe(url);
});

it('no Link, or one that is too long, gives no helpUrl', () => {
  expect(readHelpUrl(null)).toBeNull();
  expect(readHelpUrl(`<https://a.example/${'x'.repeat(600)}>; rel="help"`)).toBeNull();
});
