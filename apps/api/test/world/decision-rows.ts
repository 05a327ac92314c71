/** Stores decisions by SQL, as many and about the subjects that a test needs, each with a real Receipt. */
import { randomBytes } from 'node:crypto';
import { encodeUlid } from '@svc/protocol';
import type { Client } from 'pg';

/** A decision as lists show it; omitted members are null. */
export interface DecisionRow {
  readonly receipt_id: string;
  readonly decision: 'ALLOW' | 'DENY';
  readonly reason: string | null;
  readonly evaluated_at: string;
  readonly principal: string | null;
  readonly grant_id: string | null;
  readonly agent: string | null;
  readonly rp: string;
  readonly key_id: string | null;
  readonly action_type: string | null;
  readonly amount: number | null;
  readonly currency: string | null;
  readonly resource: string | null;
  readonly method: string | null;
}

export const newDecisionRow = (
  atMs: number,
  row: Pick<DecisionRow, 'rp'> & Partial<Omit<DecisionRow, 'receipt_id' | 'evaluated_at' | 'decision'>>,
): DecisionRow => ({
  receipt_id: `drc_${encodeUlid(atMs, randomBytes(10))}`,
  decision: (row.reason ?? null) === null ? 'ALLOW' : 'DENY',
  reason: null,
  evaluated_at: new Date(atMs).toISOString(),
  principal: null,
  grant_id: null,
  agent: null,
  key_id: null,
  action_type: null,
  amount: null,
  currency: null,
  resource: null,
  method: null,
  ...row,
});

/** `jws` is the Receipt of all rows. */
export const insertDecisionRows = (sql: Client, rows: readonly DecisionRow[], jws: string) =>
  sql.query(
    `insert into receipts (receipt_id, relying_party, principal, grant_id, agent, key_id, decision, reason, evaluated_at,
       action_type, amount, currency, resource, method, jws, content_hash)
     select receipt_id, rp, principal, grant_id, agent, key_id, decision, reason, evaluated_at,
       action_type, amount, currency, resource, method, $2, sha256(convert_to($2, 'UTF8'))
     from jsonb_to_recordset($1::jsonb) as row (receipt_id text, rp text, principal text, grant_id text, agent text,
       key_id text, decision text, reason text, evaluated_at timestamptz, action_type text, amount bigint,
       currency text, resource text, method text)`,
    [JSON.stringify(rows), jws],
  );

/** Sorts rows in the order of lists. */
export const newestFirst = <Row extends { readonly receipt_id: string }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.receipt_id > b.receipt_id ? -1 : 1));
