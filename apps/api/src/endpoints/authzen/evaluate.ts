/** `POST /access/v1/evaluation`. */
import { PLACES, type Routes } from '@svc/contract';
import type { Idempotency, RpCaller, ServiceIdentity } from '@svc/service';
import { ApiError, type Handler } from '../../http/index.ts';
import { type Decide, idempotencyOf } from '../decide.ts';
import { type AuthZenRequest, type AuthZenResponse, presentEvaluation, toVerifyRequest } from './mapping.ts';

/** One evaluation. Throws INVALID_REQUEST where the request does not map to a verification. */
export type EvaluateOne = (
  caller: RpCaller,
  asked: AuthZenRequest,
  idempotency?: Idempotency | null,
  noteOutsideWait?: () => void,
) => Promise<AuthZenResponse>;

export const evaluateBy =
  (decide: Decide, identity: ServiceIdentity): EvaluateOne =>
  async (caller, asked, idempotency = null, noteOutsideWait = undefined) => {
    const mapped = toVerifyRequest(asked);
    if (!mapped.ok) throw new ApiError('INVALID_REQUEST', PLACES.body.field(mapped.problem));
    return presentEvaluation(identity, await decide(caller, mapped.request, idempotency, noteOutsideWait));
  };

export const evaluateAccess =
  (evaluate: EvaluateOne): Handler<Routes['evaluateAccess']> =>
  async ({ caller, body, bodyText, headers, noteOutsideWait }) => {
    const idempotency = idempotencyOf(headers['idempotency-key'], bodyText);
    return { status: 200, body: await evaluate(caller, body, idempotency, noteOutsideWait) };
  };
