/** Requests for approval (migrations, `approvals`). Each statement uses one reading of the database's clock. */
import { jcs } from '@svc/protocol';
import type { ApprovalAsk, ApprovalLoad, ApprovalRecord, ApprovalRepository } from '@svc/service';
import { Conditions } from '../conditions.ts';
import { type Database, readValue } from '../database.ts';
import { lowestReceiptId } from '../receipt-ids.ts';
import type { Statement } from '../statement.ts';

const columns = `r.request_id as "requestId", r.relying_party as "relyingParty", r.principal, r.grant_id as "grantId", r.agent,
  r.action::json as action, r.state, r.requested_at as "requestedAtMs", r.expires_at as "expiresAtMs", r.decided_at as "decidedAtMs",
  r.reason, r.receipt_id as "receiptId", r.proof, r.approved_grant as "approvedGrant", r.approved_grant_id as "approvedGrantId", r.approved_until as "approvedUntilMs"`;

const sameAsk = (ask: ApprovalAsk) => ({
  text: `principal = $1 and relying_party = $2 and agent = $3 and grant_id = $4 and action_hash = $5`,
  values: [ask.principal, ask.relyingParty, ask.agent, ask.grantId, ask.actionHash],
});

const countSql = `
  select
    (select count(*) from approval_requests where state = 'pending' and principal = $1 and agent = $3)::integer as "openAboutAgent",
    (select count(*) from approval_requests where state = 'pending' and principal = $1 and relying_party = $2)::integer as "openByPair",
    (select count(*) from approval_requests where state = 'pending' and principal = $1)::integer as "openToPrincipal",
    (select count(*) from approval_requests where state = 'pending' and relying_party = $2)::integer as "openByRelyingParty",
    (select count(*) from approval_requests
      where principal = $1 and relying_party = $2 and requested_at > n.at - interval '1 hour')::integer as "madeLastHourByPair",
    (select count(*) from approval_requests
      where principal = $1 and requested_at > n.at - interval '1 hour')::integer as "madeLastHourToPrincipal",
    (select count(*) from approval_requests
      where principal = $1 and agent = $3 and requested_at > n.at - interval '1 hour')::integer as "madeLastHourAboutAgent",
    (select count(*) from approval_requests
      where principal = $1 and agent = $3 and state = 'denied'
        and requested_at > n.at - interval '48 hours' and decided_at > n.at - interval '24 hours')::integer as "deniedAboutAgent",
    (select max(decided_at) from approval_requests
      where principal = $1 and relying_party = $2 and agent = $3 and grant_id = $4 and action_hash = $5
        and state = 'denied' and requested_at > n.at - interval '48 hours' and decided_at > n.at - interval '24 hours') as "deniedAtMs"
  from (select svc_now() as at offset 0) as n`;

const insertSql = `
  insert into approval_requests as r
    (request_id, principal, relying_party, agent, grant_id, action_hash, action, requested_at, expires_at, receipt_id, proof)
  select $6, $1, $2, $3, $4, $5, $7, n.at, n.at + make_interval(secs => $8), $9, $10
  from (select svc_now() as at offset 0) as n
  returning ${columns}`;

const decideSql = `
  update approval_requests as r
  set state = $2, decided_at = n.at, reason = $3, approved_grant = $4, approved_grant_id = $5, approved_until = svc_instant($6)
  from (select svc_now() as at offset 0) as n
  where r.request_id = $1 and r.state = 'pending' and n.at < r.expires_at
  returning ${columns}`;

const expireSql = (which: string, limit = '1000') => `
  update approval_requests set state = 'expired', decided_at = expires_at
  where request_id in (
    select request_id from approval_requests
    where state = 'pending' and expires_at <= svc_now() and ${which}
    order by expires_at limit ${limit} for update skip locked)
  returning request_id`;

export function approvalRepository(database: Database): ApprovalRepository {
  /** Reads. Where requests are due to expire, records that they expired and reads again. */
  const read = async (statement: Statement): Promise<ApprovalRecord[]> => {
    const rows = await database.read<ApprovalRecord & { isDue: boolean }>(statement);
    const due = rows.filter(({ isDue }) => isDue).map(({ requestId }) => requestId);
    if (due.length === 0) return rows.map(withoutMark);
    await database.write({ text: expireSql('request_id = any ($1)'), values: [due] });
    return (await database.read<ApprovalRecord & { isDue: boolean }>(statement)).map(withoutMark);
  };
  const select = (where: string, values: readonly unknown[]) => ({
    text: `select ${columns}, r.state = 'pending' and r.expires_at <= svc_now() as "isDue"
      from approval_requests as r where ${where}`,
    values,
  });
  const write = async (text: string, values: readonly unknown[]): Promise<ApprovalRecord | null> =>
    (await database.write<ApprovalRecord>({ text, values }))[0] ?? null;
  return {
    async lock({ principal, relyingParty }) {
      await database.write({ text: 'select svc_lock_approvals($1, $2)', values: [principal, relyingParty] });
    },
    async expireDue({ principal, relyingParty }) {
      const which = '(principal = $1 or relying_party = $2)';
      await database.write({ text: expireSql(which), values: [principal, relyingParty] });
    },
    find: async (requestId) => (await read(select('r.request_id = $1', [requestId])))[0] ?? null,
    async findOfReceipt(receiptId) {
      const which = 'r.request_id = (select request_id from approval_receipts where receipt_id = $1)';
      return (await read(select(which, [receiptId])))[0] ?? null;
    },
    async findOpen(ask) {
      const { text, values } = sameAsk(ask);
      const [found] = await read(select(`${text} and state = 'pending'`, values));
      return found?.state === 'pending' ? found : null;
    },
    list({ principal, heldSinceMs, state, beforeId, limit }) {
      const where = new Conditions().add('r.principal = ?', principal).add('r.request_id < ?', beforeId);
      where.add('r.requested_at >= svc_instant(?)', heldSinceMs);
      // Null: the request was recorded before this column existed.
      const since = where.parameter(lowestReceiptId(heldSinceMs));
      where.require(`(r.receipt_id is null or r.receipt_id >= ${since})`);
      // A request that is due to expire counts as expired, also before that is recorded.
      const due = state === 'expired' ? ` or (r.state = 'pending' and r.expires_at <= svc_now())` : '';
      if (state !== undefined) where.require(`(r.state = ${where.parameter(state)}${due})`);
      if (state === 'pending') where.require('r.expires_at > svc_now()');
      const rows = where.parameter(limit);
      return read(select(`${where.text} order by r.request_id desc limit ${rows}`, where.values));
    },
    async count(ask) {
      const [row] = await database.read<ApprovalLoad>({ text: countSql, values: sameAsk(ask).values });
      if (row === undefined) throw new Error('count answered no row');
      return row;
    },
    async insert({ requestId, action, expiresInSeconds, receiptId, proof, ...ask }) {
      const asked = [requestId, jcs({ ...action }), expiresInSeconds, receiptId, proof];
      const values = [...sameAsk(ask).values, ...asked];
      const row = await write(insertSql, values);
      if (row === null) throw new Error('insert answered no row');
      return row;
    },
    async addReceipt(requestId, receiptId, atMost) {
      const rows = await database.write({
        text: `insert into approval_receipts (receipt_id, request_id)
          select $2, $1 where (select count(*) from approval_receipts where request_id = $1) < $3
          returning receipt_id`,
        values: [requestId, receiptId, atMost],
      });
      return rows.length === 1;
    },
    decide(requestId, decision) {
      const { state } = decision;
      const reason = state === 'denied' ? decision.reason : null;
      const approved =
        state === 'approved' ? [decision.grant, decision.grantId, decision.untilMs] : [null, null, null];
      return write(decideSql, [requestId, state, reason, ...approved]);
    },
    async listDecided(requestIds) {
      const rows = await database.read<{ id: string }>({
        text: `select request_id as id from approval_requests
          where request_id = any ($1) and (state != 'pending' or expires_at <= svc_now())`,
        values: [requestIds],
      });
      return rows.map(({ id }) => id);
    },
    async countPending() {
      const text = `select count(*)::integer as value from (
        select from approval_requests where state = 'pending' and expires_at > svc_now() limit 100000) as p`;
      return (await readValue<number>(database, text)) ?? 0;
    },
    async expire(limit) {
      return (await database.write({ text: expireSql('true', '$1'), values: [limit] })).length;
    },
    async forget(limit, days) {
      const texts = await database.write({
        text: `update approval_requests set approved_grant = null where request_id in (
            select request_id from approval_requests
            where approved_grant is not null and approved_until <= svc_now() order by approved_until limit $1)
          returning request_id`,
        values: [limit],
      });
      const requests = await database.write({
        text: `delete from approval_requests where request_id in (
            select request_id from approval_requests
            where requested_at < svc_now() - make_interval(days => $2) order by requested_at limit $1)
          returning request_id`,
        values: [limit, days],
      });
      return { texts: texts.length, requests: requests.length };
    },
  };
}

const withoutMark = ({ isDue: _, ...record }: ApprovalRecord & { readonly isDue: boolean }): ApprovalRecord =>
  record;
