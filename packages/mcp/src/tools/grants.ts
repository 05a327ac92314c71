/** `list_grants`, `grant_budgets`, `list_decisions`: the lists of a Principal, one page at a time. */
import { REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import { REMEDIES } from '@svc/protocol/explain';
import type { GrantFilter, PrincipalClient } from '@svc/sdk-principal';
import { given } from '../given.ts';
import type { Teller, ToolResult } from '../tool-result.ts';

/** Page size of every list. */
export const MAX_PER_PAGE = 50;

interface Page {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** Tells the model whether there is another page. */
export const more = (cursor: string | number | null): string =>
  cursor === null ? 'There are no more.' : 'There are more: call again with next_cursor as cursor.';

export const createReads = (client: PrincipalClient, { tell }: Teller) => ({
  listGrants: async (filter: Pick<GrantFilter, 'agent' | 'state'> & Page): Promise<ToolResult> => {
    const page = await client.grants.page(given({ limit: MAX_PER_PAGE, ...given(filter) }));
    // Renamed to `grant_id`, the name under which other tools take it.
    const grants = page.grants.map(({ id, ...facts }) => ({ grant_id: id, ...facts }));
    return tell(`${grants.length} Grants, newest first. ${more(page.next_cursor)}`, { ...page, grants });
  },
  grantBudgets: async (
    grantId: string,
    { limit = 20, cursor }: { limit?: number | undefined; cursor?: number | undefined },
  ): Promise<ToolResult> => {
    const page = await client.grants.consumptionPage(grantId, given({ limit, cursor }));
    const says =
      page.capabilities.length === 0
        ? 'Nothing was drawn from a budget of this Grant yet.'
        : `Amounts are in minor units. "remaining" is what is left, null where nothing limits. ${more(page.next_cursor)}`;
    return tell(says, page);
  },
  listDecisions: async (
    filter: { decision?: 'ALLOW' | 'DENY' | undefined; grantId?: string | undefined } & Page,
  ): Promise<ToolResult> => {
    const page = await client.decisions.page(given({ limit: MAX_PER_PAGE, ...given(filter) }));
    const reasons = [...new Set(page.decisions.map(({ reason }) => reason as ReasonCode | null))];
    const denials = Object.fromEntries(
      reasons.flatMap((reason) =>
        reason === null ? [] : [[reason, { means: REASON_TEXTS[reason], remedy: REMEDIES[reason] }]],
      ),
    );
    return tell(`${page.decisions.length} decisions, newest first. ${more(page.next_cursor)}`, {
      reasons: denials,
      ...page,
    });
  },
});
