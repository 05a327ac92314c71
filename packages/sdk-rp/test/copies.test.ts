/** Two copies of the package in one program: one imported and one required, or one inside `@svc/testing`. */
import { expect, it, vi } from 'vitest';
import { createAuthorizer } from '../src/fetch.ts';
import { createVerifier, ReceiptError, RequestMismatchError, SvcError } from '../src/index.ts';
import { grant, newProof, ORIGIN, order, request, SERVICE, serviceDocument } from './world.ts';

vi.resetModules();
const other = (await import('../src/index.ts')) as typeof import('../src/index.ts');

const options = { baseUrl: 'https://svc.example', apiKey: 'key', didDocument: serviceDocument };
const proof = await newProof({ url: `${ORIGIN}/other` });
const answerOf = async (verifier: Parameters<typeof createAuthorizer>[0]['verifier']) => {
  const onError = vi.fn();
  const authorize = createAuthorizer({ verifier, origin: ORIGIN, action: () => order, onError });
  const headers = { 'svc-grant': grant, 'svc-proof': proof };
  const asked = await authorize(new Request(`${ORIGIN}/orders`, { method: 'POST', headers }));
  if (asked.ok) throw new Error('it was allowed');
  expect(onError).not.toHaveBeenCalled();
  return { status: asked.response.status, ...((await asked.response.json()) as object) };
};

it('a middleware answers 403, not 503, to a request mismatch from the verifier of another copy', async () => {
  expect(other.RequestMismatchError).not.toBe(RequestMismatchError);
  const fetch = vi.fn();
  const verifiers = [createVerifier, other.createVerifier].map((create) =>
    create({ ...options, serviceDid: SERVICE, fetch }),
  );
  const [own, others] = await Promise.all(verifiers.map(answerOf));
  expect(own).toMatchObject({ status: 403, reason: 'REQUEST_MISMATCH' });
  expect(others).toEqual(own);
  expect(fetch).not.toHaveBeenCalled();
});

it('an error with only the kind request-mismatch is answered 403 without its message and without a Receipt', async () => {
  const verify = () => Promise.reject(new SvcError('request-mismatch', `received POST ${ORIGIN}/secret`));
  const answer = await answerOf({ verify });
  expect(answer).toMatchObject({ status: 403, reason: 'REQUEST_MISMATCH' });
  expect(JSON.stringify(answer)).not.toMatch(/secret|receipt_id/);
});

it('an error of another copy is an instance of RequestMismatchError, and not of its subclasses', () => {
  class Narrower extends RequestMismatchError {}
  const { method, url } = request;
  const thrown = new other.RequestMismatchError(null, { method, url }, null);
  expect(thrown).toBeInstanceOf(RequestMismatchError);
  expect(thrown).toBeInstanceOf(SvcError);
  expect(thrown).not.toBeInstanceOf(Narrower);
  expect(new Narrower(null, { method, url }, null)).toBeInstanceOf(RequestMismatchError);
  for (const value of [new SvcError('request-mismatch', ''), new Error(''), null, {}, 'x'])
    expect(value instanceof RequestMismatchError).toBe(false);
});

it('an error of another copy is an instance of ReceiptError, and not of its subclasses', () => {
  class Narrower extends ReceiptError {}
  const about = { receipt: null, receiptId: null };
  const thrown = new other.ReceiptError('receipt-invalid', '', about);
  expect(other.ReceiptError).not.toBe(ReceiptError);
  expect(thrown).toBeInstanceOf(ReceiptError);
  expect(thrown).toBeInstanceOf(SvcError);
  expect(thrown).not.toBeInstanceOf(Narrower);
  expect(thrown).not.toBeInstanceOf(RequestMismatchError);
  expect(new Narrower('aborted', '', about)).toBeInstanceOf(ReceiptError);
  for (const value of [new SvcError('receipt-invalid', ''), new Error(''), null, {}, 'x'])
    expect(value instanceof ReceiptError).toBe(false);
});
