/** `POST /verify` and its dry run. The envelope has been parsed already; faults inside it are checks that fail. */
import { formatTimestamp } from '@svc/protocol';
import type { CapabilityFit } from '@svc/protocol/explain';
import type { DryRun, Verifier } from '@svc/service';
import { type HandlersOf, reasonLink } from '../http/index.ts';
import { type Decide, decidedOf, idempotencyOf, repeatHeader } from './decide.ts';

export const verifyEndpoints = (
  decide: Decide,
  dryRun: Verifier['dryRun'],
  publicBaseUrl: string,
): HandlersOf<'verify'> => ({
  verify: async ({ caller, body, bodyText, headers, answerByMs, noteRemoteWait, noteDecision }) => {
    const idempotency = idempotencyOf(headers['idempotency-key'], bodyText);
    const answer = await decide(caller, body, idempotency, { answerByMs, noteRemoteWait });
    noteDecision(decidedOf(answer));
    const told = {
      ...(answer.reason !== null && { Link: reasonLink(answer.reason, publicBaseUrl) }),
      ...repeatHeader(answer.replayed),
    };
    return { status: 200, rawBody: answer.text, headers: told };
  },
  dryRunVerify: async ({ caller, body, answerByMs, noteRemoteWait, noteDecision }) => {
    const run = await dryRun(caller, body, { answerByMs, noteRemoteWait });
    noteDecision(null);
    return { status: 200, body: presentDryRun(run) };
  },
});

const presentDryRun = ({ closest, evaluatedAtMs, ...run }: DryRun) => ({
  dry_run: 'nothing was decided' as const,
  would: run.would,
  reason: run.reason,
  remedy: run.remedy,
  evaluated_at: formatTimestamp(evaluatedAtMs),
  relying_party: run.relyingParty,
  principal: run.principal,
  grant_id: run.grantId,
  agent: run.agent,
  checks: run.outcomes,
  failed: run.failed.map((check) => ({ ...check, compared: [...check.compared] })),
  closest_capability: closest === null ? null : presentFit(closest),
});

const presentFit = ({ index, capability: { resources, ...capability }, conditions }: CapabilityFit) => ({
  index,
  capability: { ...capability, ...(resources !== undefined && { resources: [...resources] }) },
  conditions: conditions.map((one) => ({ ...one, compared: [...one.compared] })),
});
