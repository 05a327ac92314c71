/**
 * One verification (interface §Verify). A verdict is a value. Anything but a genuine Receipt, about the request in hand
 * and evaluated during this call, is an error. No error can become an ALLOW.
 */
import type { JsonValue } from '@svc/codec';
import type { Capability, ReasonCode } from '@svc/protocol';
import type { Receipt, ServiceKeys } from '@svc/receipts';
import {
  type CallOptions,
  checkValue,
  helpUrlOf,
  outcomeUnknown,
  randomToken,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import { type CallTimes, isOfEarlierCall, windowOf } from './answer-window.ts';
import { type AnswerCheck, checkAnswer, REQUEST_HASH_FAILURE } from './check-receipt.ts';
import { receiptInvalid } from './receipt-error.ts';
import { mismatchBeforeVerify, requestMismatch } from './request-mismatch.ts';
import { checkWithRenewal, type Trust } from './trust.ts';
import { type CheckedInput, readVerifyInput, type VerifyInput } from './verify-input.ts';

interface Verified {
  /** The Receipt that the service signed, checked. Keep `receipt.receipt`, the JWS, as evidence. */
  receipt: Receipt;
  /**
   * Whether the answer repeats an earlier one under its `Idempotency-Key`: that of an attempt of this call whose answer
   * was lost, or of an earlier call with the same `idempotencyKey`. It holds for the instant `receipt.evaluated_at`: a
   * Grant revoked since then still appears as allowed.
   */
  idempotentReplay: boolean;
}

/**
 * `allowed` is true only with a genuine Receipt about exactly this request. Both variants have all members, so you can
 * destructure them: `const { allowed, reason, authority } = verdict`. `REASON_TEXTS[reason]` is the reason as a
 * sentence.
 */
export type Verdict = Allowed | Denied;

interface Allowed extends Verified {
  /** Perform the Action only if this is `true`. */
  allowed: true;
  /** The decision in the Receipt. */
  decision: 'ALLOW';
  /** The Capability of the Grant that covers the Action, as the Principal signed it. */
  authority: Capability;
  /** An ALLOW has no reason; a DENY has one. */
  reason: null;
  /** Only a DENY has one. */
  helpUrl: null;
}

interface Denied extends Verified {
  /** Do not perform the Action; `reason` says why. */
  allowed: false;
  /** The decision in the Receipt. */
  decision: 'DENY';
  /** Only an ALLOW has one. */
  authority: null;
  /**
   * The code of the first check that failed, such as `AMOUNT_EXCEEDS_AUTHORITY`. `REASON_TEXTS[reason]` is a sentence
   * for people; programs compare the code.
   */
  reason: ReasonCode;
  /**
   * The page of the service's guide about the reason, with its remedy. Null if the service's public address is unknown.
   */
  helpUrl: string | null;
}

/** Options of one call of `verify`. */
export interface VerifyOptions extends CallOptions {
  /**
   * For work that is resumed after a crash: returns the answer of an earlier call with this key and the same input, if
   * there is one at most ten minutes old. 1 to 64 of `A-Z a-z 0-9 _ -`. Use one key for each piece of work and store it
   * with the work. Never derive it from the Proof: a replayed Proof would then get the stored ALLOW. Random for each
   * call unless given.
   */
  idempotencyKey?: string;
}

const anIdempotencyKey = rule(
  '1 to 64 characters of A-Z a-z 0-9 _ -',
  (value): value is string => typeof value === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(value),
);

export async function verify(
  transport: Transport,
  trust: Trust & { readonly publicUrl: string | null },
  input: VerifyInput,
  { idempotencyKey, ...call }: VerifyOptions,
): Promise<Verdict> {
  const checked = readVerifyInput(input);
  if (idempotencyKey !== undefined) checkValue('idempotencyKey', idempotencyKey, anIdempotencyKey);
  const { grant, proof, action } = checked;
  const mismatch = mismatchBeforeVerify(proof, checked.request);
  if (mismatch !== null) throw mismatch;
  return transport.whole(call, async (whole) => {
    // Fetched before the Proof is spent, because a verdict that cannot be checked is useless.
    const keys = await whole.wait(() => trust.documents.get());
    const { nowMs, difference } = trust.clock;
    const beganMs = nowMs();
    const { body, isIdempotentReplay } = await transport.send({
      method: 'POST',
      path: '/verify',
      body: { grant, proof, action },
      headers: { 'idempotency-key': idempotencyKey ?? newIdempotencyKey() },
      hasEffect: true,
      ...whole.rest(),
    });
    const times: CallTimes = { beganMs, answeredMs: nowMs(), mayRepeat: idempotencyKey !== undefined };
    const evaluated = windowOf(times, difference);
    const { serviceDid, relyingParty, crypto } = trust;
    const check = (didDocument: ServiceKeys): AnswerCheck =>
      checkAnswer(body, { ...checked, didDocument, serviceDid, relyingParty, evaluated, crypto });
    const receipt = await checkWithRenewal({ whole, trust, keys }, check).catch(notChecked);
    return readVerdict(receipt, body, { ...checked, publicUrl: trust.publicUrl }, (genuine) => ({
      receipt: genuine,
      idempotentReplay: isIdempotentReplay || isOfEarlierCall(genuine, times, difference),
    }));
  });
}

/**
 * The service has decided, but its newer document could not be fetched. The Proof may be spent; of all kinds only
 * `outcome-unknown` says so.
 */
function notChecked(error: unknown): never {
  const passesUnchanged =
    !(error instanceof SvcError) || error.kind === 'aborted' || error.kind === 'bad-response';
  throw passesUnchanged
    ? error
    : outcomeUnknown(error, 'the answer could not be checked, so what was decided is unknown');
}

function readVerdict(
  check: AnswerCheck,
  body: JsonValue,
  { proof, request, publicUrl }: CheckedInput & { readonly publicUrl: string | null },
  describe: (receipt: Receipt) => Verified,
): Verdict {
  if (!check.ok) {
    const { failures, genuine } = check;
    if (failures.every(({ code }) => code === REQUEST_HASH_FAILURE))
      throw requestMismatch(body, proof, request);
    throw receiptInvalid(body, genuine, failures);
  }
  const { receipt } = check;
  const verified = describe(receipt);
  if (check.decision === 'ALLOW' && receipt.authority) {
    return {
      allowed: true,
      decision: 'ALLOW',
      authority: receipt.authority,
      reason: null,
      helpUrl: null,
      ...verified,
    };
  }
  if (check.decision === 'DENY' && receipt.reason !== null) {
    const { reason } = receipt;
    const helpUrl = publicUrl === null ? null : helpUrlOf(publicUrl, 'reasons', reason);
    return { allowed: false, decision: 'DENY', authority: null, reason, helpUrl, ...verified };
  }
  const failure = { code: 'decision', message: 'the decision contradicts itself' };
  throw receiptInvalid(body, receipt, [failure]);
}

/**
 * A new key for each verify, kept only for its retries. Never derived from the Proof: a replayed Proof would then be
 * answered with the stored ALLOW of the first one.
 */
const newIdempotencyKey = (): string => randomToken();
