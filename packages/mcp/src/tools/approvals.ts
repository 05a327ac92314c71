/**
 * Approvals (protocol §16): a relying party asks about a denied Action, and its Principal answers. Each change is
 * confirmed.
 */
import { type JsonObject, jcs, parseDidKey, parseDidWeb } from '@svc/codec';
import { isReceiptId, parseGrant } from '@svc/protocol';
import type { AccessRequest, ApprovalTerms, PrincipalApprovals } from '@svc/sdk-principal';
import { SvcError, type Verifier } from '@svc/sdk-rp';
import type { Confirming, Telling } from '../confirm.ts';
import { given } from '../given.ts';
import type { ToolResult } from '../tool-result.ts';
import { quoted } from './authority.ts';
import { MAX_PER_PAGE, more } from './grants.ts';

type Confirmed = { readonly confirm_token?: string | undefined };
type OfRequest = { readonly request_id: string } & Confirmed;

interface Waited {
  readonly request_id: string;
  readonly wait_seconds?: number | undefined;
}

/** The request as data, without the text of its Grant, which would be truncated there. */
const withoutGrant = ({ result, ...request }: AccessRequest) => {
  if (result === null) return { ...request, result };
  const { grant: _, ...shown } = result;
  return { ...request, result: shown };
};

/** For a relying party: asks, and reads the decision. */
export const createAsking = (
  approvals: Pick<Verifier, 'requestApproval' | 'waitForApproval'>,
  { whenConfirmed, teller }: Telling,
) => ({
  requestApproval: async ({
    receipt_id: receiptId,
    proof,
    expires_in_seconds: expiresInSeconds = 900,
    confirm_token: token,
  }: {
    readonly receipt_id: string;
    readonly proof: string;
    readonly expires_in_seconds?: number | undefined;
  } & Confirmed): Promise<ToolResult> => {
    if (!isReceiptId(receiptId))
      return teller.refuse('"receipt_id" must be that of a Receipt, drc_…. Nothing was asked or done.');
    const question = `Ask the Principal to approve once what was denied in the decision ${receiptId}?\nIt has ${expiresInSeconds} seconds to answer.`;
    const input = { receipt_id: receiptId, proof, expires_in_seconds: expiresInSeconds };
    return whenConfirmed({ tool: 'request_approval', question, input }, token, async () => {
      const request = await approvals.requestApproval(receiptId, { proof, expiresInSeconds });
      return teller.tell('Asked. await_approval tells what the Principal answers.', withoutGrant(request));
    });
  },
  awaitApproval: async ({
    request_id: requestId,
    wait_seconds: seconds = 20,
  }: Waited): Promise<ToolResult> => {
    const request = await approvals
      .waitForApproval(requestId, { timeoutMs: seconds * 1_000 })
      .catch((error: unknown) => {
        if (error instanceof SvcError && error.kind === 'timeout') return null;
        throw error;
      });
    if (request === null)
      return teller.tell(`Nobody has answered within ${seconds} s. Call again to go on waiting.`);
    if (request.task.status !== 'approved')
      return teller.tell(`Not approved: it is ${request.task.status}.`, withoutGrant(request));
    const grant = request.result?.grant ?? '';
    const parsed = parseGrant(grant);
    if (!parsed.ok || parsed.value.id !== request.result?.grant_id)
      return teller.refuse(
        'The service says that it was approved, and what it gives is not that Grant.',
        request,
      );
    return teller.tell(
      'Approved. Hand "grant" to the Agent, which signs a new Proof under it; all checks run again.',
      withoutGrant(request),
      { grant },
    );
  },
});

/** The whole of the terms in our own words. Quotations in them cannot look like a line of ours. */
const describe = (verb: string, principal: string, { agent, audience, capabilities }: ApprovalTerms) =>
  [
    `${verb} this, once, in the name of ${principal}?`,
    `Asked by: ${audience[0]}`,
    `For the Agent: ${agent}`,
    `To do: ${capabilities[0].action}: ${quoted(jcs(JSON.parse(JSON.stringify(capabilities[0])) as JsonObject))}`,
    ...(capabilities[0].action === 'api:call'
      ? ['Not part of it: query and body of the request. The Agent chooses both.']
      : ["Amounts are in the currency's smallest unit."]),
  ].join('\n');

/** For a Principal: lists the requests, and answers them. */
export const createAnswering = (
  approvals: PrincipalApprovals,
  { whenConfirmed, teller, principal }: Confirming,
) => {
  /** The user confirms exactly what is signed, so a token is bound to the terms. */
  const answer = async (
    tool: 'approve_request' | 'reject_request',
    { request_id: requestId, confirm_token: token }: OfRequest,
    act: (request: Awaited<ReturnType<PrincipalApprovals['get']>>) => Promise<ToolResult>,
  ): Promise<ToolResult> => {
    const request = await approvals.get(requestId);
    const terms = approvals.terms(request);
    // A question would quote these values, so they must not be able to form a sentence.
    if (parseDidKey(terms.agent) === null || parseDidWeb(terms.audience[0]) === null)
      return teller.refuse('The service answers a request of nobody. Nothing was asked or done.');
    const verb = tool === 'approve_request' ? 'Approve' : 'Reject';
    // So that the user is never asked to approve something that the service invented.
    if (verb === 'Approve') await approvals.check(request);
    const lasts =
      verb === 'Approve'
        ? `\nValid for: ${terms.lifetimeSeconds} seconds, from when the service allocates the Grant`
        : '';
    const question = `${describe(verb, await principal(), terms)}${lasts}`;
    const input = JSON.parse(JSON.stringify({ request_id: requestId, terms })) as JsonObject;
    return whenConfirmed({ tool, question, input }, token, () => act(request));
  };
  return {
    listApprovals: async (filter: {
      readonly status?: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled' | undefined;
      readonly limit?: number | undefined;
      readonly cursor?: string | undefined;
    }): Promise<ToolResult> => {
      const page = await approvals.page(given({ limit: MAX_PER_PAGE, ...given(filter) }));
      return teller.tell(`${page.requests.length} requests, newest first. ${more(page.next_cursor)}`, {
        ...page,
        requests: page.requests.map(withoutGrant),
      });
    },
    approveRequest: (input: OfRequest): Promise<ToolResult> =>
      answer('approve_request', input, async (request) =>
        teller.tell(
          'Approved: a Grant for exactly that was signed. The relying party hands it to the Agent.',
          withoutGrant(await approvals.approve(request)),
        ),
      ),
    rejectRequest: (input: OfRequest): Promise<ToolResult> =>
      answer('reject_request', input, async (request) =>
        teller.tell(
          'Rejected. The same cannot be asked again for 24 hours.',
          withoutGrant(await approvals.reject(request.task.id)),
        ),
      ),
  };
};
