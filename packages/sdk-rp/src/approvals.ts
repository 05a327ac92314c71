/** Asking a Principal to approve an Action that was denied (protocol §16). */
import {
  type AccessRequest,
  anInteger,
  aReceiptId,
  aRequestId,
  type CallOptions,
  checkValue,
  isObject,
  isText,
  readAccessRequest,
  readRequestOf,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** Options of one request for approval. */
export interface RequestApprovalOptions extends CallOptions {
  /**
   * The Proof that was verified. It shows the Principal what its Agent wants, so it need not trust the service's
   * description.
   */
  proof: string;
  /** How long the Principal may take to decide, 60 to 86,400 seconds; 900 unless given. */
  expiresInSeconds?: number;
}

/** Options of one wait. */
export interface WaitForApprovalOptions {
  /** How long to wait, in milliseconds; 900,000 unless given. */
  timeoutMs?: number;
  /** Ends the wait. */
  signal?: AbortSignal;
}

/** Asks for an approval and waits for the decision. */
export interface Approvals {
  /**
   * Asks the Principal to allow a denied Action once. The denial is given by the verdict or its `receipt_id`. The
   * `reason` of the DENY must be about what the Grant allows (P16 to P20 of the checks). The profile of this relying
   * party must be `svc-base-v2`. The call returns the request with its current status, at first `pending`. However
   * often you call, the Principal is asked once.
   * @example
   * const verdict = await verifier.verify({ grant, proof, action, request });
   * if (verdict.reason === 'AMOUNT_EXCEEDS_AUTHORITY') {
   *   const { task } = await verifier.requestApproval(verdict, { proof });
   *   const { result } = await verifier.waitForApproval(task.id, { timeoutMs: 120_000 });
   *   if (result?.grant) answer(Response.json({ grant: result.grant })); // the Agent signs a new Proof under this Grant, and comes again
   * }
   * @throws SvcError `refused`: `CONFLICT`, with the cause why it cannot be approved; `RATE_LIMITED` if too many
   * requests are open or were made lately
   */
  requestApproval(
    denied: string | { readonly receipt: { readonly receipt_id: string } },
    options: RequestApprovalOptions,
  ): Promise<AccessRequest>;
  /**
   * Resolves when the request is decided, with `task.status` `approved`, `denied`, `expired` or `cancelled`. After an
   * approval, `result.grant` is the Grant to give to the Agent. It allows nothing until a Proof under it has been
   * verified.
   * @throws SvcError `timeout` if nobody decides in time, 900,000 ms unless given
   */
  waitForApproval(requestId: string, options?: WaitForApprovalOptions): Promise<AccessRequest>;
  /** Withdraws the request. @throws SvcError `refused` (`CONFLICT`) if it is already decided */
  cancelApproval(requestId: string, options?: CallOptions): Promise<AccessRequest>;
}

const WAIT_MS = 900_000;
/** The longest wait that the service is asked for, in seconds, and the time that its answer may take beyond that. */
const ASK_SECONDS = 20;
const ANSWER_MS = 10_000;
/** The part of the caller's time that is reserved for the last answer, “pending”, to arrive. */
const SPARE_MS = 1_000;
/** Least time between two “pending” answers, so that a server which answers early is not polled without pause. */
const MIN_MS = 1_000;

const seconds = anInteger(60, 86_400, 'seconds');
const aProof = rule('the Proof that was verified, a string', (value): value is string => isText(value));
const milliseconds = anInteger(1, 86_400_000, 'milliseconds');

export const createApprovals = (transport: Transport): Approvals => ({
  async requestApproval(denied, options) {
    checkValue('the options of requestApproval', options, rule('{ proof }', isObject));
    const { proof, expiresInSeconds, ...call } = options;
    const receiptId = receiptIdOf(denied);
    checkValue('receiptId', receiptId, aReceiptId);
    if (expiresInSeconds !== undefined) checkValue('expiresInSeconds', expiresInSeconds, seconds);
    checkValue('proof', proof, aProof);
    const body = {
      receipt_id: receiptId,
      proof,
      ...(expiresInSeconds !== undefined && { expires_in_seconds: expiresInSeconds }),
    };
    const path = '/access/v1/requests';
    const answer = await transport.send({
      method: 'POST',
      path,
      body,
      hasEffect: true,
      mayBePending: true,
      ...call,
    });
    return readAccessRequest(answer.body, 'the request');
  },
  waitForApproval: (requestId, options = {}) => waitFor(transport, requestId, options),
  async cancelApproval(requestId, call = {}) {
    checkValue('requestId', requestId, aRequestId);
    const path = `/access/v1/requests/${requestId}/cancel`;
    const answer = await transport.send({ method: 'POST', path, hasEffect: true, ...call });
    return readRequestOf(requestId, answer.body);
  },
});

const receiptIdOf = (denied: unknown): unknown => {
  if (!isObject(denied)) return denied;
  if ('dry_run' in denied)
    throw new SvcError(
      'invalid-argument',
      'a dry run is no decision: ask about what verify answered, or its receipt_id',
    );
  return isObject(denied.receipt) ? denied.receipt.receipt_id : denied;
};

async function waitFor(
  transport: Transport,
  requestId: string,
  { timeoutMs = WAIT_MS, signal }: WaitForApprovalOptions,
): Promise<AccessRequest> {
  checkValue('requestId', requestId, aRequestId);
  checkValue('timeoutMs', timeoutMs, milliseconds);
  const path = `/access/v1/requests/${requestId}`;
  const endsAtMs = performance.now() + timeoutMs;
  for (;;) {
    const askedAtMs = performance.now();
    const leftMs = Math.max(1, Math.ceil(endsAtMs - askedAtMs));
    const wait = Math.min(ASK_SECONDS, Math.max(0, Math.floor((leftMs - SPARE_MS) / 1_000)));
    const limits = { timeoutMs: Math.min(leftMs, wait * 1_000 + ANSWER_MS), signal };
    const answer = await transport.send({
      method: 'GET',
      path,
      query: { wait },
      hasEffect: false,
      ...limits,
    });
    const request = readRequestOf(requestId, answer.body);
    if (request.task.status !== 'pending') return request;
    const pauseMs = Math.max(0, askedAtMs + MIN_MS - performance.now());
    if (performance.now() + pauseMs >= endsAtMs)
      throw new SvcError(
        'timeout',
        `nobody has answered ${requestId} within ${timeoutMs} ms; it may be waited for again`,
      );
    await pause(pauseMs, signal);
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    signal?.addEventListener('abort', done, { once: true });
  });
