/**
 * `npm run bench -- events`: what events cost a decision, in CPU time of the API and of its PostgreSQL. Four states of
 * one service take turns at the same load:
 * - a commit that does not look for subscriptions;
 * - no subscription;
 * - one subscription, of the relying party, to every decision;
 * - a subscription to every decision for each subject that may have one: the relying party, the Principal, and the org
 *   of each.
 *
 * Nothing is delivered meanwhile: the worker does that, and none runs.
 */
import { writeFileSync } from 'node:fs';
import { Client } from 'pg';
import type { World } from '../fixtures/world.ts';
import { count, ownApi, path, readOptions } from '../harness/command-line.ts';
import { CONNECTIONS, LEAD_IN_MS, MOST_PER_SECOND, startLoaded } from '../harness/loaded.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import type { LoadReport } from '../load/messages.ts';
import { median, ratiosOf } from '../load/percentile.ts';

const LOOK = 'exists (select from event_wants) as wants';

const STATES = ['before', 'nobody', 'one', 'everything'] as const;
type State = (typeof STATES)[number];
/** Ratios to `before` within one round; the state with four events for a decision has no bar. */
const BARS = { nobody: 1.01, one: 1.1, everything: null } as const;

const { api, rounds, seconds, json } = readOptions('events', {
  command: 'npm run bench -- events [options]',
  options: {
    api: ownApi,
    rounds: count({ default: 20, least: 1, most: 1_000, text: 'turns of each state' }),
    seconds: count({ default: 2, least: 1, most: 60, text: 'of load in each turn' }),
    json: path('write every figure of every turn'),
  },
});

await runBenchmark(async ({ place }) => {
  console.log(describeMachine());
  const { database, world, load, target } = await startLoaded(place, { name: 'svc', api });
  const sql = new Client({ connectionString: database.url });
  await sql.connect();
  place.cleanup.add(() => sql.end());
  const enter = await statesOf(sql, await insertOrgs(sql, world));
  const turn = async (state: State): Promise<LoadReport> => {
    await enter(state);
    await load.sign(Math.ceil(MOST_PER_SECOND * (seconds + LEAD_IN_MS / 1000)));
    await database.checkpoint();
    const options = { ...target, connections: CONNECTIONS, leadInMs: LEAD_IN_MS, windowMs: seconds * 1000 };
    const report = await load.load(options);
    if (report.allowed === 0) throw new Error(`${state}: nothing was allowed`);
    await checkTold(sql, state, report.allowed);
    return report;
  };
  for (const state of STATES) await turn(state);
  const turns: Record<State, LoadReport[]> = { before: [], nobody: [], one: [], everything: [] };
  for (let round = 0; round < rounds; round++)
    // The order alternates: a machine that becomes slower or faster favours no state.
    for (const state of round % 2 === 0 ? STATES : STATES.toReversed()) turns[state].push(await turn(state));
  if (json !== null) writeFileSync(json, JSON.stringify({ machine: describeMachine(), ...turns }, null, 2));
  report(turns);
});

/**
 * Puts the relying party and the Principal into an org each, the first of which has a plan. Returns all subjects that
 * may subscribe to a decision.
 */
async function insertOrgs(sql: Client, { relyingParty, principal }: World): Promise<readonly string[]> {
  const [shops, buyers] = ['org_01M7VZGC008Q2R7V9X1C4E6H8A', 'org_01M7VZGC008Q2R7V9X1C4E6H8B'];
  await sql.query(
    `insert into orgs (org_id, slug, name) select id, 'bench-' || right(lower(id), 1), 'Bench' from unnest($1::text[]) as id`,
    [[shops, buyers]],
  );
  await sql.query(
    `insert into entitlements (org_id, production, reason, as_of) values ($1, 'allowed', 'paid', now())`,
    [shops],
  );
  await sql.query('update relying_parties set org_id = $1 where did = $2', [shops, relyingParty.did]);
  await sql.query('update principals set org_id = $1 where did = $2', [buyers, principal.did]);
  return [`rp ${relyingParty.did}`, `principal ${principal.did}`, `org ${shops}`, `org ${buyers}`];
}

/** Brings the database into a state and deletes the events stored before. */
async function statesOf(sql: Client, audiences: readonly string[]): Promise<(state: State) => Promise<void>> {
  const { rows } = await sql.query<{ source: string }>(
    `select pg_get_functiondef('svc_commit_decisions'::regproc) as source`,
  );
  const [{ source } = { source: '' }] = rows;
  if (!source.includes(LOOK)) throw new Error('the commit does not look whether anybody wants to hear');
  return async (state) => {
    await sql.query('truncate event_subscriptions, event_outbox, event_log cascade');
    await sql.query(state === 'before' ? source.replace(LOOK, 'false as wants') : source);
    if (state === 'before' || state === 'nobody') return;
    await sql.query(
      `insert into event_subscriptions (subscription_id, audience, url, types, budget_low_percent, read_to)
       select 'whs_' || n, audience, 'https://hooks.example/', '{decision.allow,decision.deny}', 20, 0
       from unnest($1::text[]) with ordinality as a (audience, n)`,
      [state === 'one' ? audiences.slice(0, 1) : audiences],
    );
    await sql.query('select svc_want_events(subscription_id) from event_subscriptions');
  };
}

/** Checks that the database is in the state that is being measured. */
async function checkTold(sql: Client, state: State, allowed: number): Promise<void> {
  const { rows } = await sql.query<{ told: number; heard: number }>(
    `select count(*)::integer as told, (select count(*)::integer from event_subscriptions) as heard from event_outbox`,
  );
  const [{ told, heard } = { told: 0, heard: 0 }] = rows;
  if (heard > 0 ? told < heard * allowed : told > 0)
    throw new Error(`${state}: ${told} events for ${heard} subscriptions of ${allowed} decisions`);
}

function report(turns: Readonly<Record<State, readonly LoadReport[]>>): void {
  const cpuUs = ({ serverCpuMs, postgresCpuMs, allowed }: LoadReport) =>
    ((serverCpuMs + postgresCpuMs) * 1000) / allowed;
  const before = turns.before.map(cpuUs);
  for (const state of STATES) {
    const own = turns[state].map(cpuUs);
    const perSecond = median(turns[state].map(({ allowed, seconds: window }) => allowed / window));
    const text = `${state.padEnd(10)} ${median(own).toFixed(0).padStart(6)} µs of CPU a decision, ${perSecond.toFixed(0)} a second`;
    console.log(state === 'before' ? text : `${text}, ${heldAgainst(own, before, BARS[state])}`);
  }
}

/** The median of the ratios of each round, with its quartiles. */
function heldAgainst(own: readonly number[], before: readonly number[], bar: number | null): string {
  const { ratio, text } = ratiosOf(own, before);
  if (bar === null) return text;
  if (ratio > bar) process.exitCode = 1;
  return `${text}, bar ${bar}: ${ratio <= bar ? 'holds' : 'MISSED'}`;
}
