/**
 * Identifies newcomers: orgs that signed themselves up and that nobody pays for. They wait in one crowd (decision 23).
 */

/** An SQL condition on the org that `orgId`, an expression, names; never null. */
export const isNewcomerSql = (orgId: string): string => `(
    exists (select from self_serve_tenants s where s.org_id = ${orgId})
    and not exists (
      select from entitlements paid
      where paid.org_id = ${orgId} and paid.production = 'allowed' and paid.reason <> 'trial'
        and (paid.production_until is null or paid.production_until > clock_timestamp())
    )
  )`;
