/** Reporting the outcome of a decision (interface §Outcome attestations). */
import type { JsonObject } from '@svc/codec';
import {
  type Attestation,
  aReceiptId,
  type CallOptions,
  checkValue,
  isObject,
  type OutcomeEvent,
  readAttestation,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** Outcomes that can be reported for a decision (interface §Outcome attestations and decisions). */
export type OutcomeType = Attestation['type'];

/** Reports the outcomes of decisions. */
export interface Outcomes {
  /**
   * Appends to the outcome ledger of one of this relying party's decisions. Reports are never changed later. To correct
   * a mistake, send another report that names the first in `correction_of`.
   * @throws SvcError The call is never repeated, because two equal reports are two attestations. After
   * `outcome-unknown` or a 503, look at `decisions.get(receiptId)` before reporting again.
   */
  report(receiptId: string, event: OutcomeEvent, options?: CallOptions): Promise<Attestation>;
}

const anEvent = rule('an OutcomeEvent', isObject);

export const createOutcomes = (transport: Transport, relyingParty: string | undefined): Outcomes => ({
  async report(receiptId, event, call = {}) {
    checkValue('receiptId', receiptId, aReceiptId);
    checkValue('event', event, anEvent);
    const { type } = event;
    const answer = await transport.send({
      method: 'POST',
      path: `/decisions/${receiptId}/outcomes`,
      // Undefined members are left out; the service refuses unknown members.
      body: event as unknown as JsonObject,
      hasEffect: true,
      isOnceOnly: true,
      ...call,
    });
    const attestation = readAttestation(answer.body, 'the attestation');
    const isOurs = relyingParty === undefined || attestation.reporter === relyingParty;
    if (attestation.type !== type || !isOurs)
      throw new SvcError('bad-response', 'the service answered about another report', answer);
    return attestation;
  },
});
