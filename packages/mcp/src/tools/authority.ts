/** `issue_grant` and `revoke_grant`: what changes something, each time confirmed. */
import { printable } from '@svc/cli/report';
import { type JsonObject, jcs } from '@svc/codec';
import { apiCall, type Capability, type PrincipalClient, purchase } from '@svc/sdk-principal';
import type { Confirmer, Intent } from '../confirm.ts';
import { given } from '../given.ts';
import type { Teller, Told } from '../told.ts';

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

/** Whole, in words that nobody else wrote; what they quote cannot pass for a line of ours. */
const describeIssue = (principal: string, asked: IssueAsked): string =>
  [
    `Issue a Grant in the name of ${principal}?`,
    `To the Agent: ${printable(asked.agent)}`,
    `For: ${asked.lifetime_seconds} seconds from now (${(asked.lifetime_seconds / 86_400).toFixed(2)} days)`,
    `At: ${asked.audience === undefined ? 'ANY relying party' : asked.audience.map(printable).join(', ')}`,
    ...asked.capabilities.map(
      ({ action, ...limits }, i) => `${i + 1}. ${action}: ${printable(jcs(given(limits) as JsonObject))}`,
    ),
  ].join('\n');

export const createWrites = (
  client: PrincipalClient,
  {
    confirmer,
    teller,
    principal,
  }: { readonly confirmer: Confirmer; readonly teller: Teller; readonly principal: () => Promise<string> },
) => {
  const whenConfirmed = async (
    intent: Intent,
    token: string | undefined,
    act: () => Promise<Told>,
  ): Promise<Told> => {
    const confirmation = await confirmer.confirm(intent, token);
    switch (confirmation.kind) {
      case 'confirmed':
        return act();
      case 'refused':
        return teller.refuse(confirmation.says);
      case 'asked':
        return teller.tell(
          'NOT DONE YET. Show the user the question below, word for word. Only where the user says yes, call again with the same arguments and this confirm_token; it holds for five minutes and once.',
          { question: intent.question },
          { confirm_token: confirmation.token },
        );
    }
  };
  return {
    issueGrant: async ({ confirm_token: token, ...asked }: IssueAsked & Confirmed): Promise<Told> => {
      const capabilities = asked.capabilities.map(capabilityOf);
      const { agent, lifetime_seconds: lifetimeSeconds, audience } = asked;
      const intent = {
        tool: 'issue_grant',
        question: describeIssue(await principal(), asked),
        input: JSON.parse(JSON.stringify(asked)) as JsonObject,
      };
      return whenConfirmed(intent, token, async () => {
        const issued = await client.grants.issue(given({ agent, capabilities, lifetimeSeconds, audience }));
        const { grant, ...facts } = issued;
        return teller.tell(
          'Issued. Hand "grant" to the Agent: it is of no use without the Agent’s key.',
          facts,
          {
            grant,
          },
        );
      });
    },
    revokeGrant: async ({
      grant_id: grantId,
      confirm_token: token,
    }: { readonly grant_id: string } & Confirmed): Promise<Told> => {
      const question = `Revoke the Grant ${printable(grantId)} of ${await principal()}, for ever and everywhere?`;
      const intent = { tool: 'revoke_grant', question, input: { grant_id: grantId } };
      return whenConfirmed(intent, token, async () => {
        const revoked = await client.grants.revoke(grantId);
        return teller.tell('Revoked, on every node: nothing is allowed under it any more.', revoked);
      });
    },
  };
};
