/** The tools for approvals. The server's keys decide which of them exist. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { PrincipalApprovals } from '@svc/sdk-principal';
import { createVerifier } from '@svc/sdk-rp';
import { z } from 'zod';
import type { Confirming, Telling } from './confirm.ts';
import { given } from './given.ts';
import { confirmToken, cursor, limit, READS } from './inputs.ts';
import type { Settings } from './settings.ts';
import { safely } from './tool-result.ts';
import { createAnswering, createAsking } from './tools/approvals.ts';

const CHANGES = { readOnlyHint: false, destructiveHint: true };
const requestId = z.string().max(64).describe('The task.id of a request, arq_…');

/** The tools of a relying party. */
export const addAsking = (
  server: McpServer,
  { relyingParty, trust, writes }: Settings,
  { teller, whenConfirmed }: Telling,
): void => {
  if (relyingParty === undefined || trust === undefined) return;
  const { did: serviceDid, document } = trust;
  const didDocument = document === undefined ? undefined : JSON.parse(document);
  const verifier = createVerifier({ ...relyingParty, ...given({ serviceDid, didDocument }) });
  const asking = createAsking(verifier, { teller, whenConfirmed });
  server.registerTool(
    'await_approval',
    {
      description:
        'Waits until a request for an approval is answered, and tells the answer: with the Grant to hand to the Agent where it is approved.',
      inputSchema: {
        request_id: requestId,
        wait_seconds: z.number().int().min(1).max(60).optional().describe('20 unless given'),
      },
      annotations: READS,
    },
    safely(teller, asking.awaitApproval),
  );
  if (!writes) return;
  server.registerTool(
    'request_approval',
    {
      description:
        'Asks the Principal to approve, once, what was denied to its Agent in a decision of this relying party, after the user has confirmed it.',
      inputSchema: {
        receipt_id: z.string().max(64).describe('Of the denial, at most an hour old'),
        proof: z.string().min(1).max(16_384).describe('The Proof of the Agent that was denied'),
        expires_in_seconds: z
          .number()
          .int()
          .min(60)
          .max(86_400)
          .optional()
          .describe('How long the Principal has; 900 unless given'),
        confirm_token: confirmToken,
      },
      annotations: { ...CHANGES, destructiveHint: false, idempotentHint: true },
    },
    safely(teller, asking.requestApproval),
  );
};

/** The tools of a Principal. */
export const addAnswering = (
  server: McpServer,
  approvals: PrincipalApprovals,
  {
    writes,
    signs,
    ...telling
  }: Confirming & {
    readonly writes: boolean;
    readonly signs: boolean;
  },
): void => {
  const { teller } = telling;
  const answering = createAnswering(approvals, telling);
  server.registerTool(
    'list_approvals',
    {
      description: 'Lists what relying parties ask the Principal to approve, newest first.',
      inputSchema: {
        status: z.enum(['pending', 'approved', 'denied', 'expired', 'cancelled']).optional(),
        ...{ limit, cursor },
      },
      annotations: READS,
    },
    safely(teller, answering.listApprovals),
  );
  if (!writes) return;
  if (signs)
    server.registerTool(
      'approve_request',
      {
        description:
          'Signs a Grant for exactly what a request asks for, once, after the user has confirmed it. The denial is checked first.',
        inputSchema: { request_id: requestId, confirm_token: confirmToken },
        annotations: { ...CHANGES, idempotentHint: true },
      },
      safely(teller, answering.approveRequest),
    );
  server.registerTool(
    'reject_request',
    {
      description: 'Says no to a request, after the user has confirmed it.',
      inputSchema: { request_id: requestId, confirm_token: confirmToken },
      annotations: { ...CHANGES, idempotentHint: true },
    },
    safely(teller, answering.rejectRequest),
  );
};
