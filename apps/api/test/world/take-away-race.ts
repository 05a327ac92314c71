/**
 * Sends verifications through two nodes over real sockets while a call removes their authority: a revocation or a
 * pause. Counts violations of protocol §9: an ALLOW committed after the 200, or dated after the instant that the 200
 * names.
 */
import type { Pool } from 'pg';
import { expect } from 'vitest';
import type { ApiNodes } from './api-node.ts';
import {
  call,
  callUntilSettled,
  type HeldGrant,
  issueGrant,
  receiptOf,
  receiptUnlessRefused,
  type Tenants,
  verifyBody,
} from './tenants.ts';

export interface Race {
  /** ALLOWs that became visible only after the 200. */
  readonly late: number;
  /** ALLOWs dated after the instant that the 200 names. */
  readonly postdated: number;
  readonly allowed: number;
  readonly denied: number;
}

export const NO_RACE: Race = { late: 0, postdated: 0, allowed: 0, denied: 0 };

export const addRaces = (a: Race, b: Race): Race => ({
  late: a.late + b.late,
  postdated: a.postdated + b.postdated,
  allowed: a.allowed + b.allowed,
  denied: a.denied + b.denied,
});

export interface TakeAway {
  readonly path: string;
  readonly key: string;
  readonly body: object;
  /** The member of the answer with the instant from which nothing is allowed. */
  readonly at: string;
  /** Reason of the denials that it causes. */
  readonly reason: string;
}

/** Half of them are sent before the call that removes their authority, and half after it. */
const VERIFIES_PER_RACE = 6;

/** `isSlowed`: every commit is delayed by `DAWDLE`, and the call is sent while one of them is. */
export const raceAgainst = async (
  { processes }: ApiNodes,
  sql: Pool,
  tenants: Tenants,
  takeAwayOf: (grant: HeldGrant) => TakeAway,
  isSlowed = false,
): Promise<Race> => {
  const baseUrlOf = (i: number) => processes[i % 2]?.baseUrl ?? '';
  const grant = await issueGrant(tenants);
  const { path, key, body, at, reason } = takeAwayOf(grant);
  const bodies = await Promise.all(
    Array.from({ length: VERIFIES_PER_RACE }, () => verifyBody(tenants, grant)),
  );
  const verify = (verified: object, i: number) =>
    call(baseUrlOf(i), 'POST', '/verify', { key: tenants.rpKey, body: verified });
  const before = bodies.slice(0, VERIFIES_PER_RACE / 2).map(verify);
  if (isSlowed) await untilJudged(sql, before);
  const takeAway = callUntilSettled(baseUrlOf(0), 'POST', path, { key, body });
  const behind = bodies.slice(VERIFIES_PER_RACE / 2).map(verify);
  const { status, text } = await takeAway;
  const atOnce = (await allowsOf(sql, grant)).length;
  expect(status).toBe(200);
  const atMs = Date.parse((JSON.parse(text) as Record<string, string>)[at] ?? '');
  const receipts = (await Promise.all([...before, ...behind])).map(receiptUnlessRefused);
  const inTheEnd = await allowsOf(sql, grant);
  const after = receiptOf(
    await callUntilSettled(baseUrlOf(1), 'POST', '/verify', {
      key: tenants.rpKey,
      body: await verifyBody(tenants, grant),
    }),
  );
  expect(after.reason).toBe(reason);
  return {
    late: inTheEnd.length - atOnce,
    postdated: inTheEnd.filter((dated) => !(dated <= atMs)).length,
    allowed: receipts.filter((receipt) => receipt?.decision === 'ALLOW').length,
    denied: receipts.filter((receipt) => receipt?.reason === reason).length,
  };
};

/** Resolves once a commit is delayed between judging and storing, or all these calls are answered. */
const untilJudged = async (sql: Pool, calls: readonly Promise<unknown>[]): Promise<void> => {
  let isOver = false;
  void Promise.allSettled(calls).then(() => {
    isOver = true;
  });
  const delayed =
    "select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'";
  while (!isOver && (await sql.query(delayed)).rowCount === 0);
};

const allowsOf = async (sql: Pool, { grantId }: HeldGrant): Promise<number[]> => {
  const { rows } = await sql.query<{ at: number }>(
    `select (extract(epoch from evaluated_at) * 1000)::float8 as at from receipts where grant_id = $1 and decision = 'ALLOW'`,
    [grantId],
  );
  return rows.map((row) => Number(row.at));
};

/** Replacement in a function of the commit, by which these races seed a fault: it delays the commit. */
export const DAWDLE = (seconds: number) => {
  const judged = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';
  return ['svc_commit_decisions', judged, `  perform pg_sleep(${seconds});\n${judged}`] as const;
};
export const NO_PRINCIPAL_LOCK = ['svc_take_locks', '(1, hashtext(d.used_principal), false),', ''] as const;
export const NO_WAIT_FOR_COMMITS = [
  'svc_await_commits',
  'while v_waiting is not null loop',
  'while false loop',
] as const;
