/**
 * `POST /access/v1/evaluations`: each item is one evaluation with its own Receipt and its own deadline. If an item
 * fails, its error is reported in its place and denies this item only, because other items may be decided and their
 * Proofs spent.
 */
import { type Body, describeProblems, ERROR_STATUS, PLACES, type Routes, routes } from '@svc/contract';
import { isJsonObject } from '@svc/protocol';
import { type Log, type RpCaller, ServiceError } from '@svc/service';
import { ApiError, ClientGone, type Handler, publicMessage } from '../../http/index.ts';
import type { EvaluateOne, EvaluateOptions } from './evaluate.ts';
import type { AuthZenRequest } from './mapping.ts';

type Batch = Routes['evaluateAccesses']['body']['_zod']['output'];
type Answered = Extract<
  Body<Routes['evaluateAccesses'], 200>,
  { evaluations: unknown }
>['evaluations'][number];

export const evaluateAccesses =
  (evaluate: EvaluateOne, log: Log): Handler<Routes['evaluateAccesses']> =>
  async ({ caller, body, countMore, answerByMs, noteRemoteWait, noteDecision, clientGone }) => {
    const { evaluations = [] } = body;
    // The contract has validated a request without items as one evaluation.
    if (evaluations.length === 0)
      return {
        status: 200,
        body: await evaluate(caller, parseSingle(body), null, { answerByMs, noteRemoteWait, noteDecision }),
      };
    countMore(evaluations.length - 1);
    const options = { noteRemoteWait, noteDecision };
    const one = evaluateItem({ evaluate, caller, batch: body, options, log });
    return { status: 200, body: { evaluations: await runAll(evaluations, one, body, clientGone()) } };
  };

const parseSingle = (body: Batch): AuthZenRequest => routes.evaluateAccess.body.parse(body);

type EvaluateItem = (item: unknown, index: number) => Promise<Answered>;

/** Throws ClientGone if the client disconnects before all items that run one after another have been evaluated. */
const runAll = async (
  items: readonly unknown[],
  one: EvaluateItem,
  { options }: Batch,
  gone: AbortSignal,
): Promise<Answered[]> => {
  const semantic = options?.evaluations_semantic ?? 'execute_all';
  if (semantic === 'execute_all') return Promise.all(items.map(one));
  const answered: Answered[] = [];
  for (const [index, item] of items.entries()) {
    // A further ALLOW would spend a Proof and draw on budgets although no client waits for it.
    if (gone.aborted) throw new ClientGone();
    const answer = await one(item, index);
    answered.push(answer);
    // While storage does not answer, every further item would wait for it in turn.
    if (answer.decision === (semantic === 'permit_on_first_permit') || isOutage(answer)) break;
  }
  return answered;
};

const isOutage = ({ context }: Answered): boolean =>
  'error' in context && context.error.status === ERROR_STATUS.SERVICE_UNAVAILABLE;

interface ItemContext {
  readonly evaluate: EvaluateOne;
  readonly caller: RpCaller;
  readonly batch: Batch;
  readonly options: EvaluateOptions;
  readonly log: Log;
}

const evaluateItem =
  ({ evaluate, caller, batch, options, log }: ItemContext): EvaluateItem =>
  async (item, index) => {
    try {
      return await evaluate(caller, parseItem(batch, item, index), null, options);
    } catch (error) {
      return failure(error, index, log);
    }
  };

/** Throws INVALID_REQUEST. */
const parseItem = (batch: Batch, item: unknown, index: number): AuthZenRequest => {
  const merged = isJsonObject(item) ? withDefaults(batch, item) : item;
  const schema = routes.evaluateAccess.body;
  const parsed = schema.safeParse(merged);
  if (parsed.success) return parsed.data;
  throw new ApiError('INVALID_REQUEST', describeProblems(schema, merged, placeOf(index)));
};

const placeOf = (index: number) => {
  const whole = PLACES.body.field(`evaluations[${index}]`);
  return { whole, field: (path: string) => `${whole}.${path}` };
};

/**
 * A member of an item replaces the whole default (AuthZEN 1.0 §7.1.1): defaults are not merged into its inner members.
 */
const withDefaults = (batch: Batch, item: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const merged: Record<string, unknown> = { ...item };
  for (const name of ['subject', 'action', 'resource', 'context'] as const)
    if (batch[name] !== undefined && !Object.hasOwn(item, name)) merged[name] = batch[name];
  return merged;
};

const failure = (error: unknown, index: number, log: Log): Answered => {
  if (error instanceof ApiError || error instanceof ServiceError) {
    const status = ERROR_STATUS[error.code];
    if (status >= 500)
      log.warn('authzen.not_evaluated', { index, code: error.code, detail: error.detail, err: error.cause });
    return { decision: false, context: { error: { status, message: publicMessage(error.message) } } };
  }
  log.error('authzen.failed', { index, err: error });
  const error500 = { status: ERROR_STATUS.INTERNAL, message: 'The service failed.' };
  return { decision: false, context: { error: error500 } };
};
