/**
 * One verification (interface §Verify). A verdict is a value; everything that is not a genuine Receipt about the request
 * in hand, evaluated during this call, is an error. No path leads from an error to an ALLOW.
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
  /** What the service signed, checked; keep `receipt.receipt`, the JWS, as evidence. */
  receipt: Receipt;
  /**
   * The answer was given before and is repeated under its `Idempotency-Key`: to an attempt of this call that got no answer,
   * or to an earlier call under the same `idempotencyKey`. It says what was so at `receipt.evaluated_at`: a Grant that was
   * revoked since is allowed in it.
   */
  idempotentReplay: boolean;
}

/**
 * `allowed` only with a genuine Receipt about exactly this request. Both have all members, so that they can be taken apart:
 * `const { allowed, reason, authority } = verdict`. `REASON_TEXTS[reason]` says it in a sentence.
 */
export type Verdict = Allowed | Denied;

interface Allowed extends Verified {
  /** Do what was asked for only where this is `true`. */
  allowed: true;
  /** The Receipt's word for `allowed`. */
  decision: 'ALLOW';
  /** The capability of the Grant that covers the Action, as the Principal signed it. */
  authority: Capability;
  /** Nothing speaks against it. Where `allowed` is `false`: why. */
  reason: null;
  /** A DENY alone has one. */
  helpUrl: null;
}

interface Denied extends Verified {
  /** Do not do what was asked for: `reason` says why. */
  allowed: false;
  /** The Receipt's word for `allowed`. */
  decision: 'DENY';
  /** An ALLOW alone has one. */
  authority: null;
  /**
   * Why not: the code of the first check that failed, such as `AMOUNT_EXCEEDS_AUTHORITY`. `REASON_TEXTS[reason]` is a
   * sentence for people; a program compares the code.
   */
  reason: ReasonCode;
  /** The page of the service's guide about the reason, with its remedy; null where the service's public address is unknown. */
  helpUrl: string | null;
}

/** For one call of `verify`. */
export interface VerifyOptions extends CallOptions {
  /**
   * For work that is taken up again after a crash: the answer of an earlier call with this key and the same input, up to
   * ten minutes old, if there is one. 1 to 64 of `A-Z a-z 0-9 _ -`, one for each piece of work, stored with it, and never
   * derived from the Proof: whoever replays that would be answered with the stored ALLOW. A new one for each call unless given.
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
    // Had before the Proof is spent: a verdict that cannot be checked would be of no use.
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

/** The service has decided, and its newer document could not be had: the Proof may be spent, and no other kind says so. */
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
 * New for every verify and kept for its retries only. Never derived from the Proof: a replayed Proof would then be
 * answered with the first one's stored ALLOW.
 */
const newIdempotencyKey = (): string => randomToken();
