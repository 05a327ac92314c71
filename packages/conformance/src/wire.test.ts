import { DESCRIPTION, perfectAnswer } from '@svc/testkit/conformance/perfect-endpoint';
import { compile } from '@svc/testkit/conformance/schemas';
import { describe, expect, it } from 'vitest';
import { answerRequest } from './endpoint.ts';
import { createOwnEngine, readVectorSet } from './node.ts';
import { CASE_OPS, CONTRACT, casesRequest, describeRequest, parseDescription, parseResults } from './wire.ts';

const vectors = readVectorSet();
const limits = { maxRequestBytes: 1_048_576, maxCases: 1000 };
const engine = createOwnEngine();
const encode = (value: object) => new TextEncoder().encode(JSON.stringify(value));
const casesOf = (op: string) => vectors.cases.filter((one) => one.op === op);
const requestOf = (op: (typeof CASE_OPS)[number]) =>
  casesRequest(
    op,
    casesOf(op).map(({ id, input }) => ({ id, input })),
  );

describe('the published schema accepts', () => {
  it.each<readonly [string, string]>([
    ['describe', describeRequest()],
    ...CASE_OPS.map((op) => [op, requestOf(op)] as const),
  ])('the request and our answer of %s', async (_, text) => {
    const isRequest = compile('conformance-http.schema.json#/$defs/request');
    expect(isRequest(JSON.parse(text)), JSON.stringify(isRequest.errors?.slice(0, 3))).toBe(true);
    const { status, text: answer } = await answerRequest(text, engine, limits);
    const isAnswer = compile('conformance-http.schema.json#/$defs/answer');
    expect(status).toBe(200);
    expect(isAnswer(JSON.parse(answer)), JSON.stringify(isAnswer.errors?.slice(0, 3))).toBe(true);
  });

  it('the results of evaluate', () => {
    const isResult = compile('conformance-http.schema.json#/$defs/evaluateResult');
    const { results } = JSON.parse(perfectAnswer(vectors, requestOf('evaluate')));
    for (const { result } of results) expect(isResult(result), JSON.stringify(isResult.errors)).toBe(true);
  });
});

describe('parseDescription agrees with the published schema', () => {
  const isDescription = compile('conformance-http.schema.json#/$defs/description');
  const right = { contract: CONTRACT, op: 'describe', ...DESCRIPTION };
  const { receipts: _, ...incomplete } = right;
  it.each<readonly [boolean, string, object]>([
    [true, 'a valid description', right],
    [true, 'ops of a later version', { ...right, ops: ['evaluate', 'later'] }],
    [true, 'large limits', { ...right, max_cases: 1e9, max_request_bytes: 1e12 }],
    [false, 'another contract', { ...right, contract: 'svc-conformance-http v2' }],
    [false, 'another op', { ...right, op: 'evaluate' }],
    [false, 'an unknown member', { ...right, more: 1 }],
    [false, 'a missing member', incomplete],
    [false, 'no evaluate', { ...right, ops: ['describe'] }],
    [false, 'no svc-base-v1', { ...right, profiles: [] }],
    [false, 'an empty name', { ...right, implementation: { name: '', version: '1' } }],
    [false, 'a long version', { ...right, implementation: { name: 'x', version: 'x'.repeat(201) } }],
    [false, 'too many profiles', { ...right, profiles: Array.from({ length: 101 }, () => 'svc-base-v1') }],
    [false, 'too few bytes', { ...right, max_request_bytes: 131_071 }],
    [false, 'too few cases', { ...right, max_cases: 99 }],
    [false, 'a value of receipts that is not boolean', { ...right, receipts: null }],
  ])('and returns %s for %s', (isRight, _name, value) => {
    expect(parseDescription(encode(value)).ok).toBe(isRight);
    expect(isDescription(value)).toBe(isRight);
  });
});

describe('parseResults', () => {
  it('returns results by case id, in any order', () => {
    const answer = {
      contract: CONTRACT,
      op: 'isJti',
      results: [
        { id: 'b', error: 'no' },
        { id: 'a', result: null },
      ],
    };
    const read = parseResults(encode(answer), 'isJti', new Set(['a', 'b', 'c']));
    expect(read.ok && [...read.value]).toEqual([
      ['b', { id: 'b', error: 'no' }],
      ['a', { id: 'a', result: null }],
    ]);
  });
});

describe('our endpoint', () => {
  const ask = async (request: unknown) => {
    const { status, text } = await answerRequest(
      typeof request === 'string' ? request : JSON.stringify(request),
      engine,
      limits,
    );
    return { status, body: JSON.parse(text) };
  };

  it.each<readonly [string, unknown, string]>([
    ['no JSON', '{', 'must be a JSON object'],
    ['no object', [], 'must be a JSON object'],
    ['another contract', { contract: 'x', op: 'describe' }, 'must be a JSON object with'],
    ['an unknown op', { contract: CONTRACT, op: 'toString', cases: [] }, 'this op is not supported'],
    ['no cases', { contract: CONTRACT, op: 'isJti' }, 'cases must be an array'],
    [
      'too many cases',
      { contract: CONTRACT, op: 'isJti', cases: Array(1001).fill({ id: 'x', input: '' }) },
      'cases',
    ],
    ['a case without input', { contract: CONTRACT, op: 'isJti', cases: [{ id: 'x' }] }, 'a case must be'],
  ])('refuses %s with 400', async (_, request, problem) => {
    const { status, body } = await ask(request);
    expect(status).toBe(400);
    expect(body.error).toContain(problem);
    expect(compile('conformance-http.schema.json#/$defs/refusal')(body)).toBe(true);
  });

  it('answers a case with invalid input with an error, and the other cases with results', async () => {
    const cases = [
      { id: 'a', input: 1 },
      { id: 'b', input: 'aaaaaaaaaaaaaaaaaaaaaa' },
    ];
    const { status, body } = await ask({ contract: CONTRACT, op: 'isJti', cases });
    expect(status).toBe(200);
    expect(body.results).toEqual([
      { id: 'a', error: 'the input must be a string' },
      { id: 'b', result: true },
    ]);
  });
});
