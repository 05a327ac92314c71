/** `POST /verify`: the envelope is parsed by now; whatever is wrong inside it becomes a DENY Receipt. */
import type { HandlersOf } from '../http/index.ts';
import { type Decide, decidedOf, idempotencyOf } from './decide.ts';

export const verifyEndpoints = (decide: Decide): HandlersOf<'verify'> => ({
  verify: async ({ caller, body, bodyText, headers, answerByMs, noteOutsideWait, noteDecision }) => {
    const idempotency = idempotencyOf(headers['idempotency-key'], bodyText);
    const answer = await decide(caller, body, idempotency, { answerByMs, noteOutsideWait });
    noteDecision(decidedOf(answer));
    const replayed = answer.replayed ? { headers: { 'Svc-Idempotent-Replay': 'true' } } : {};
    return { status: 200, rawBody: answer.text, ...replayed };
  },
});
