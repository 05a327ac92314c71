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

it('A batch notes the decisions of items that were decided, and none for failed items', async () => {
  const told: unknown[] = [];
  const evaluate: EvaluateOne = async (_caller, _asked, _idempotency, options) => {
    options?.noteDecision?.({ receiptId: 'drc_1', decision: 'DENY', reason: null, isRepeat: false });
    return { decision: false, context: {} } as Awaited<ReturnType<EvaluateOne>>;
  };
  await evaluateAccesses(evaluate, { warn() {}, error() {} } as never)({
    body: { evaluations: [ITEM, 0, ITEM, {}] },
    countMore: () => {},
    noteDecision: (decided: unknown) => told.push(decided),
    clientGone: () => new AbortController().signal,
  } as unknown as Context);
  expect(told).toHaveLength(2);
});

it.each([
  ['deny_on_first_deny', true],
  ['permit_on_first_permit', false],
] as const)('%s stops evaluating once the client has disconnected', async (semantic, decision) => {
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
