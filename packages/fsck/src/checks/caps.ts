/**
 * Checks the number of production checks that is counted against the cap of each org. Production checks of hot days are
 * counted from their Receipts, those of whole cold days from their sums. If a cap began within a cold day, the sums do
 * not tell which checks came before it; they are then counted from the day's objects, where these are read.
 */
import type { ReceiptRow } from '@svc/cold-ledger';
import { type CheckContext, reportRows } from '../check.ts';
import { COLD_DAYS } from '../cold-days.ts';

const BEGAN_WITHIN = `e.cap_since at time zone 'UTC' > k.day and e.cap_since at time zone 'UTC' < k.day + 1`;

/** `began`: the orgs to compare, each with its checks in the cold day within which its cap began. */
const capFaults = (began: string): string => `
  select e.org_id as "where", e.checks_since_cap || ' are counted, and there are ' || began.checks + hot.checks + cold.checks as problem
  from ${began} as began (org_id, checks) join entitlements e using (org_id), lateral (
    select count(*) as checks from relying_parties rp join receipts r on r.relying_party = rp.did
    where rp.org_id = e.org_id and r.production_check and r.evaluated_at >= e.cap_since
  ) hot, lateral (
    select coalesce(sum(u.production_checks), 0) as checks
    from relying_parties rp join usage_by_key u on u.relying_party = rp.did
    where rp.org_id = e.org_id and u.day >= e.cap_since at time zone 'UTC' and u.day in (${COLD_DAYS})
  ) cold
  where e.check_cap is not null and e.checks_since_cap <> began.checks + hot.checks + cold.checks`;

/** Faults of the orgs whose caps began within no cold day. */
export const CAP_FAULTS = capFaults(`(
  select e.org_id, 0 from entitlements e
  where not exists (select from (${COLD_DAYS}) as k where ${BEGAN_WITHIN}))`);

const BEGAN = `
  select e.org_id as "orgId", rp.did, (extract(epoch from e.cap_since) * 1000000)::bigint::text as "sinceUs"
  from (select $1::date as day) as k join entitlements e on ${BEGAN_WITHIN}
    left join relying_parties rp on rp.org_id = e.org_id
  where e.check_cap is not null`;

interface Began {
  readonly orgId: string;
  /** A relying party of the org; null if it has none. */
  readonly did: string | null;
  /** Microseconds, as in the Receipts of cold days. */
  readonly sinceUs: string;
}

type Counted = Pick<ReceiptRow, 'relying_party' | 'production_check' | 'evaluated_at'>;

/** Counts the checks of one cold day against the caps that began within it. Takes every Receipt of the day. */
export class BegunCaps {
  readonly #checks: Map<string, number>;
  readonly #orgs: ReadonlyMap<string, { readonly orgId: string; readonly sinceUs: bigint }>;

  private constructor(
    private readonly context: CheckContext,
    began: readonly Began[],
  ) {
    this.#checks = new Map(began.map(({ orgId }) => [orgId, 0]));
    this.#orgs = new Map(
      began.flatMap(({ did, orgId, sinceUs }) =>
        did === null ? [] : [[did, { orgId, sinceUs: BigInt(sinceUs) }]],
      ),
    );
  }

  static async of(context: CheckContext, day: string): Promise<BegunCaps> {
    return new BegunCaps(context, await context.query<Began>(BEGAN, [day]));
  }

  add(receipts: readonly Counted[]): void {
    if (this.#orgs.size === 0) return;
    for (const { relying_party: did, production_check: isCounted, evaluated_at: atUs } of receipts) {
      const org = isCounted ? this.#orgs.get(did) : undefined;
      if (org === undefined || atUs < org.sinceUs) continue;
      this.#checks.set(org.orgId, (this.#checks.get(org.orgId) ?? 0) + 1);
    }
  }

  /** To be called after all Receipts have been added. */
  async end(): Promise<void> {
    const counted = [...this.#checks];
    if (counted.length === 0) return;
    await reportRows(this.context, capFaults('unnest($1::text[], $2::bigint[])'), [
      counted.map(([orgId]) => orgId),
      counted.map(([, checks]) => checks),
    ]);
  }
}
