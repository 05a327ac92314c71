import { expect, it } from 'vitest';
import { ClientGone } from '../../http/index.ts';
import type { EvaluateOne } from './evaluate.ts';
import { evaluateAccesses } from './evaluate-batch.ts';

type Context = Parameters<ReturnType<typeof evaluateAccesses>>[0];

const ITEM = {
  subject: {
    type: 'agent',
    id: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    properties: { grant: 'a.b.c', proof: 'a.b.c' },
  },
  action: { name: 'commerce:purchase' },
  resource: { type: 'order', id: 'order/1' },
};

it.each([
  ['deny_on_first_deny', true],
  ['permit_on_first_permit', false],
] as const)('%s evaluates nothing more once its caller is gone', async (semantic, decision) => {
  const gone = new AbortController();
  let evaluated = 0;
  const evaluate: EvaluateOne = async () => {
    evaluated += 1;
    gone.abort();
    return { decision, context: {} } as Awaited<ReturnType<EvaluateOne>>;
  };
  const answering = evaluateAccesses(evaluate, { warn() {}, error() {} } as never)({
    body: { evaluations: [ITEM, ITEM, ITEM], options: { evaluations_semantic: semantic } },
    countMore: () => {},
    clientGone: () => gone.signal,
  } as unknown as Context);
  await expect(answering).rejects.toThrow(ClientGone);
  expect(evaluated).toBe(1);
});
