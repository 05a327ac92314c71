/** `issue_grant` and `revoke_grant`: the tools that change something. Each call is confirmed. */
import { printable } from '@svc/cli/report';
import { type JsonObject, jcs, parseDidKey, parseDidWeb } from '@svc/codec';
import { isGrantId } from '@svc/protocol';
import { apiCall, type Capability, type PrincipalClient, purchase } from '@svc/sdk-principal';
import type { Confirming } from '../confirm.ts';
import { given } from '../given.ts';
import type { ToolResult } from '../tool-result.ts';

export interface PurchaseAsked {
  readonly action: 'commerce:purchase';
  readonly max_amount_minor: number;
  readonly currency: string;
  readonly resources: readonly string[];
  readonly max_total_minor?: number | undefined;
  readonly max_per_period_minor?: number | undefined;
  readonly period?: 'hour' | 'day' | 'week' | 'month' | undefined;
  readonly max_uses?: number | undefined;
}

export interface ApiCallAsked {
  readonly action: 'api:call';
  readonly methods: readonly string[];
  readonly resources: readonly string[];
  readonly max_uses?: number | undefined;
}

export interface IssueAsked {
  readonly agent: string;
  readonly capabilities: readonly (PurchaseAsked | ApiCallAsked)[];
  readonly lifetime_seconds: number;
  readonly audience?: readonly string[] | undefined;
}

type Confirmed = { readonly confirm_token?: string | undefined };

const capabilityOf = (asked: PurchaseAsked | ApiCallAsked): Capability =>
  asked.action === 'api:call'
    ? apiCall(given({ methods: asked.methods, resources: asked.resources, maxUses: asked.max_uses }))
    : purchase(
        given({
          ...{ maxAmountMinor: asked.max_amount_minor, currency: asked.currency, resources: asked.resources },
          ...{ maxTotalMinor: asked.max_total_minor, maxPerPeriodMinor: asked.max_per_period_minor },
          ...{ period: asked.period, maxUses: asked.max_uses },
        }),
      );

/** A question would quote these values, so they must not be able to form a sentence. */
const findFault = ({ agent, audience = [] }: IssueAsked): string | null => {
  if (parseDidKey(agent) === null) return '"agent" must be the did:key of the Agent.';
  return audience.every((did) => parseDidWeb(did) !== null)
    ? null
    : '"audience" must be the DIDs of relying parties, did:web:….';
};

/**
 * Quotes a text on a line of its own, for any window width. Repeated spaces could push the rest out of sight.
 * Characters outside ASCII may be invisible or look like others.
 */
export const quoted = (text: string): string => printable(text).replace(/ (?= )|[^\x20-\x7e]/gu, escaped);
const escaped = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** All terms in our own words. Quotations in them cannot look like a line of ours. */
const describeIssue = (principal: string, asked: IssueAsked): string =>
  [
    `Issue a Grant in the name of ${principal}?`,
    `To the Agent: ${asked.agent}`,
    `For: ${asked.lifetime_seconds} seconds from now (${(asked.lifetime_seconds / 86_400).toFixed(2)} days)`,
    `At: ${asked.audience === undefined ? 'ANY relying party' : asked.audience.join(', ')}`,
    ...asked.capabilities.map(
      ({ action, ...limits }, i) => `${i + 1}. ${action}: ${quoted(jcs(given(limits) as JsonObject))}`,
    ),
  ].join('\n');

/** How many of the newest Grants are searched. */
const MAX_LOOKED_THROUGH = 1_000;

/** Also says whose Grant it is, because the id alone tells a person nothing. */
const describeRevocation = async (
  client: PrincipalClient,
  principal: string,
  grantId: string,
): Promise<string> => {
  const question = `Revoke the Grant ${grantId} of ${principal}, for ever and everywhere?`;
  let looked = 0;
  for await (const { id, agent, allocated_at: at, state } of client.grants.list({ limit: 200 })) {
    if (id === grantId) return `${question}\nIt is for the Agent ${agent}, issued ${at}, ${state}.`;
    if (++looked === MAX_LOOKED_THROUGH) break;
  }
  return `${question}\nIt is NOT among the ${looked} latest Grants, so for which Agent it is cannot be said.`;
};

export const createWrites = (client: PrincipalClient, { whenConfirmed, teller, principal }: Confirming) => {
  return {
    issueGrant: async ({ confirm_token: token, ...asked }: IssueAsked & Confirmed): Promise<ToolResult> => {
      const fault = findFault(asked);
      if (fault !== null) return teller.refuse(`${fault} Nothing was asked or done.`);
      const capabilities = asked.capabilities.map(capabilityOf);
      const { agent, lifetime_seconds: lifetimeSeconds, audience } = asked;
      const intent = {
        tool: 'issue_grant',
        question: describeIssue(await principal(), asked),
        input: JSON.parse(JSON.stringify(asked)) as JsonObject,
      };
      return whenConfirmed(intent, token, async () => {
        const issued = await client.grants.issue(given({ agent, capabilities, lifetimeSeconds, audience }));
        const { grant, grantId, validFrom, validUntil, ...facts } = issued;
        return teller.tell(
          'Issued. Hand "grant" to the Agent: it is of no use without the Agent’s key.',
          { grant_id: grantId, valid_from: validFrom, valid_until: validUntil, ...facts },
          { grant },
        );
      });
    },
    revokeGrant: async ({
      grant_id: grantId,
      confirm_token: token,
    }: { readonly grant_id: string } & Confirmed): Promise<ToolResult> => {
      if (!isGrantId(grantId))
        return teller.refuse(
          '"grant_id" must be the id of a Grant, urn:svc:grant:…. Nothing was asked or done.',
        );
      const question = await describeRevocation(client, await principal(), grantId);
      const intent = { tool: 'revoke_grant', question, input: { grant_id: grantId } };
      return whenConfirmed(intent, token, async () => {
        const { revokedAt } = await client.grants.revoke(grantId);
        return teller.tell('Revoked, on every node: nothing is allowed under it any more.', {
          grant_id: grantId,
          revoked_at: revokedAt,
        });
      });
    },
  };
};
