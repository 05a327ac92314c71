/**
 * Races revocations against a stream of commits through two stores and reports every breach of the promise of
 * protocol §9: no ALLOW committed after the revocation was acknowledged, none dated after `revoked_at`.
 */

import type { GrantRecord, Store } from '@svc/service';
import pg from 'pg';
import { openStore } from './open-store.ts';
import { allowCommit, createWorld, insertGrant, type World } from './world.ts';

export interface RaceReport {
  readonly allowsBefore: number;
  readonly refusedAfter: number;
  readonly breaches: readonly string[];
}

interface RaceOptions {
  readonly races: number;
  /** Ends the series at the first breach. */
  readonly untilBreach?: boolean;
}

const STREAMS_PER_STORE = 3;
const BATCH = 4;

export async function raceRevocations(databaseUrl: string, options: RaceOptions): Promise<RaceReport> {
  const stores = [openStore(databaseUrl), openStore(databaseUrl)] as const;
  const observer = new pg.Client({ connectionString: databaseUrl });
  await observer.connect();
  const report = { allowsBefore: 0, refusedAfter: 0, breaches: [] as string[] };
  try {
    const world = await createWorld(stores[0]);
    for (let race = 0; race < options.races; race++) {
      const result = await raceOnce(world, stores, observer);
      report.allowsBefore += result.allowsBefore;
      report.refusedAfter += result.refusedAfter;
      report.breaches.push(...result.breaches);
      if (options.untilBreach && report.breaches.length > 0) break;
    }
    return report;
  } finally {
    await Promise.all([observer.end(), ...stores.map((store) => store.close())]);
  }
}

async function raceOnce(
  world: World,
  stores: readonly [Store, Store],
  observer: pg.Client,
): Promise<RaceReport> {
  const grant = await insertGrant(world);
  const race = { isOver: false, stored: 0, refused: 0 };
  let onStored = () => {};
  const firstStored = new Promise<void>((resolve) => {
    onStored = resolve;
  });
  const stream = async (store: Store) => {
    while (!race.isOver) {
      const batch = Array.from({ length: BATCH }, () => allowCommit(world, grant));
      for (const outcome of await store.verify.commitDecisions(batch)) {
        if (outcome === 'STORED') race.stored += 1;
        else race.refused += 1;
        onStored();
      }
    }
  };
  const streams = stores.flatMap((store) => Array.from({ length: STREAMS_PER_STORE }, () => stream(store)));
  await firstStored;
  await stores[0].grants.recordRevocation([grant.id]);
  const stamps = await stores[1].revocation.stampRevoked(world.principal.did, [grant.id], Date.now());
  const acknowledged = await countAllows(observer, grant);
  race.isOver = true;
  await Promise.all(streams);
  const final = await countAllows(observer, grant);

  const breaches: string[] = [];
  if (final.count > acknowledged.count)
    breaches.push(`${final.count - acknowledged.count} committed too late`);
  if (final.latestMs > (stamps.get(grant.id) ?? 0))
    breaches.push(`dated ${final.latestMs - (stamps.get(grant.id) ?? 0)} ms too late`);
  if (final.count !== race.stored) breaches.push(`${race.stored} acknowledged, ${final.count} stored`);
  return { allowsBefore: race.stored, refusedAfter: race.refused, breaches };
}

async function countAllows(
  observer: pg.Client,
  grant: GrantRecord,
): Promise<{ count: number; latestMs: number }> {
  const { rows } = await observer.query<{ count: number; latest: number }>(
    `select count(*)::integer as count, coalesce(svc_ms(max(evaluated_at)), 0)::float8 as latest
     from receipts where principal = $1 and grant_id = $2`,
    [grant.principal, grant.id],
  );
  return { count: rows[0]?.count ?? 0, latestMs: rows[0]?.latest ?? 0 };
}
