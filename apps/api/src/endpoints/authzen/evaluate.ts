/** `POST /access/v1/evaluation`. */
import { PLACES, type Routes } from '@svc/contract';
import type { Idempotency, RpCaller, ServiceIdentity, VerifyOptions } from '@svc/service';
import { ApiError, type Handler, type LoggedDecision } from '../../http/index.ts';
import { type Decide, decidedOf, idempotencyOf, repeatHeader } from '../decide.ts';
import { type AuthZenRequest, type AuthZenResponse, presentEvaluation, toVerifyRequest } from './mapping.ts';

export interface EvaluateOptions extends VerifyOptions {
  readonly noteDecision?: (decided: LoggedDecision) => void;
}

/** One evaluation. Throws INVALID_REQUEST where the request does not map to a verification. */
export type EvaluateOne = (
  caller: RpCaller,
  asked: AuthZenRequest,
  idempotency?: Idempotency | null,
  options?: EvaluateOptions,
) => Promise<AuthZenResponse>;

export const evaluateBy =
  (decide: Decide, identity: ServiceIdentity): EvaluateOne =>
  async (caller, asked, idempotency = null, options = {}) => {
    const mapped = toVerifyRequest(asked);
    if (!mapped.ok) throw new ApiError('INVALID_REQUEST', PLACES.body.field(mapped.problem));
    const answer = await decide(caller, mapped.request, idempotency, options);
    options.noteDecision?.(decidedOf(answer));
    return presentEvaluation(identity, answer);
  };

export const evaluateAccess =
  (evaluate: EvaluateOne): Handler<Routes['evaluateAccess']> =>
  async ({ caller, body, bodyText, headers, answerByMs, noteRemoteWait, noteDecision }) => {
    const idempotency = idempotencyOf(headers['idempotency-key'], bodyText);
    let isRepeat = false;
    const note = (decided: LoggedDecision) => {
      ({ isRepeat } = decided);
      noteDecision(decided);
    };
    const options = { answerByMs, noteRemoteWait, noteDecision: note };
    const evaluation = await evaluate(caller, body, idempotency, options);
    return { status: 200, body: evaluation, headers: repeatHeader(isRepeat) };
  };
