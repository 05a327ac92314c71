/** Reads the facts for evaluations on budgets in one round trip: each Grant's balances once, each Proof once. */
import type { Balances, GrantId } from '@svc/protocol';
import type { BudgetFacts, BudgetQuery } from '@svc/service';
import { type BalancesJson, balancesJson, balancesOf } from '../consumption-json.ts';
import type { Database } from '../database.ts';

const text = `
  select 'balances' as fact, wanted.grant_id as "grantId", null as jti, ${balancesJson('wanted.grant_id')} as balances
  from unnest($1::text[]) as wanted (grant_id)
  union all
  select 'spent', s.grant_id, s.jti, null
  from unnest($2::text[], $3::text[]) as wanted (grant_id, jti)
  join spent_proofs s on s.grant_id = wanted.grant_id and s.jti = wanted.jti`;

type Row =
  | { readonly fact: 'balances'; readonly grantId: GrantId; readonly balances: BalancesJson }
  | { readonly fact: 'spent'; readonly grantId: GrantId; readonly jti: string };

/** Answers in the order of the queries. */
export async function findBudgets(
  database: Pick<Database, 'read'>,
  queries: readonly BudgetQuery[],
): Promise<BudgetFacts[]> {
  const grantIds = [...new Set(queries.map(({ grantId }) => grantId))];
  const values = [grantIds, queries.map(({ grantId }) => grantId), queries.map(({ jti }) => jti)];
  const rows = await database.read<Row>({ name: 'find_budgets', text, values });
  const balances = new Map<GrantId, Balances>();
  const spent = new Set<string>();
  for (const row of rows) {
    if (row.fact === 'balances') balances.set(row.grantId, balancesOf(row.grantId, row.balances));
    else spent.add(proofOf(row));
  }
  return queries.map((query) => ({
    balances: balances.get(query.grantId) ?? balancesOf(query.grantId, { version: 0, capabilities: [] }),
    isSpent: spent.has(proofOf(query)),
  }));
}

const proofOf = ({ grantId, jti }: BudgetQuery): string => `${grantId} ${jti}`;
