/**
 * Races revocations against a stream of commits through two stores, and reports every breach of the promise of protocol
 * §9: after the revocation was acknowledged no ALLOW is committed, and none is dated after `revoked_at`.
 */

import type { GrantRecord, Store } from '@svc/service';
import type pg from 'pg';
import { type RaceCourse, type RaceReport, runSeries, type SeriesOptions } from './race-series.ts';
import { allowCommit, createWorld, insertGrant, type World } from './world.ts';

const STREAMS_PER_STORE = 3;
const BATCH = 4;

export function raceRevocations(databaseUrl: string, options: SeriesOptions): Promise<RaceReport> {
  let world: World;
  return runSeries(databaseUrl, options, async (course, race) => {
    if (race === 0) world = await createWorld(course.stores[0]);
    return raceOnce(world, course);
  });
}

async function raceOnce(world: World, { stores, observer }: RaceCourse): Promise<RaceReport> {
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
  return { stored: race.stored, refused: race.refused, breaches };
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
