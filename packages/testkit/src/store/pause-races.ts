/**
 * Races pauses, and their ends, against a stream of commits through two stores, and reports every breach of the promise
 * of protocol §9: after a pause was acknowledged no ALLOW is committed, and none is dated after it; after its end was
 * acknowledged no DENY for it is committed. The streamed decisions were evaluated before the change, as on a node that
 * has not seen it yet.
 */
import { randomBytes } from 'node:crypto';
import type { DidWeb, OrgId } from '@svc/protocol';
import {
  type DecisionCommit,
  type GrantRecord,
  type PauseTarget,
  type ServiceDeps,
  ServiceError,
  type SetPause,
  type Store,
  StoreError,
  SYSTEM,
  setPause,
} from '@svc/service';
import type pg from 'pg';
import { type RaceCourse, type RaceReport, runSeries, type SeriesOptions } from './race-series.ts';
import { allowCommit, createWorld, denyCommit, insertGrant, insertOrg, type World } from './world.ts';

interface PauseRaceOptions extends SeriesOptions {
  readonly scopes: readonly PauseTarget['scope'][];
}

const STREAMS_PER_STORE = 2;
const BATCH = 2;
/** Each race counts all decisions of its relying party. */
const RACES_PER_WORLD = 40;

export function racePauses(databaseUrl: string, options: PauseRaceOptions): Promise<RaceReport> {
  let orgId: OrgId;
  let world: World;
  return runSeries(databaseUrl, options, async (course, race) => {
    const [store] = course.stores;
    if (race === 0) orgId = await insertOrg(store);
    if (race % RACES_PER_WORLD === 0) world = await createWorld(store, orgId);
    const scope = options.scopes[race % options.scopes.length] ?? 'grant';
    const report = await raceOnce(world, orgId, scope, course);
    return { ...report, breaches: report.breaches.map((breach) => `${scope}: ${breach}`) };
  });
}

const raceOnce = async (
  world: World,
  orgId: string,
  scope: PauseTarget['scope'],
  course: RaceCourse,
): Promise<RaceReport> => {
  const { stores } = course;
  const grant = await insertGrant(world);
  const target = targetOf(scope, world, orgId, grant);
  const before = await readAgain(world);
  const pausing = await raceAgainst(
    course,
    world,
    'ALLOW',
    () => allowCommit(before, grant),
    () => changePause(stores[1], target, true),
  );
  const during = await readAgain(world);
  const deny = () => denyOf(during, grant);
  const ending = await raceAgainst(course, world, 'DENY', deny, () => changePause(stores[0], target, false));
  const after = await readAgain(world);
  const [again] = await stores[0].verify.commitDecisions([allowCommit(after, grant)]);
  return {
    stored: pausing.stored + ending.stored,
    refused: pausing.refused + ending.refused,
    breaches: [
      ...pausing.breaches,
      ...ending.breaches,
      ...(again === 'STORED' ? [] : [`${again} after the end`]),
    ],
  };
};

/** Streams until the change is acknowledged, then counts what was stored afterwards. */
const raceAgainst = async (
  { stores, observer }: RaceCourse,
  { relyingParty }: World,
  decision: 'ALLOW' | 'DENY',
  make: () => DecisionCommit,
  change: () => Promise<{ readonly atMs: number }>,
): Promise<RaceReport> => {
  const race = { isOver: false, stored: 0, refused: 0 };
  let onStored = () => {};
  const firstStored = new Promise<void>((resolve) => {
    onStored = resolve;
  });
  const stream = async (store: Store) => {
    while (!race.isOver) {
      for (const outcome of await commitUnlessLate(store, Array.from({ length: BATCH }, make))) {
        if (outcome === 'STORED') race.stored += 1;
        else race.refused += 1;
        onStored();
      }
    }
  };
  const streams = stores.flatMap((store) => Array.from({ length: STREAMS_PER_STORE }, () => stream(store)));
  await firstStored;
  const { atMs } = await repeated(change);
  const acknowledged = await countOf(observer, relyingParty.did, decision);
  race.isOver = true;
  await Promise.all(streams);
  const final = await countOf(observer, relyingParty.did, decision);
  const late = final.count - acknowledged.count;
  const breaches = [
    ...(late > 0 ? [`${late} ${decision} committed too late`] : []),
    ...(final.latestMs > atMs ? [`${decision} dated ${final.latestMs - atMs} ms too late`] : []),
  ];
  return { stored: race.stored, refused: race.refused, breaches };
};

/** For a busy machine: the counts tell whether a late commit was stored after all. */
const commitUnlessLate = (store: Store, batch: readonly DecisionCommit[]): Promise<readonly string[]> =>
  store.verify.commitDecisions(batch).catch((error: unknown) => {
    if (error instanceof StoreError) return batch.map(() => 'LATE');
    throw error;
  });

const MAX_REPEATS = 5;

/** The change may be recorded without being known to be visible, so the caller repeats it. */
const repeated = async <T>(change: () => Promise<T>): Promise<T> => {
  for (let attempt = 1; ; attempt++)
    try {
      return await change();
    } catch (error) {
      const isLate =
        error instanceof StoreError ||
        (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE');
      if (!isLate || attempt === MAX_REPEATS) throw error;
    }
};

const targetOf = (
  scope: PauseTarget['scope'],
  { principal, relyingParty }: World,
  orgId: string,
  grant: GrantRecord,
): PauseTarget => {
  const whole = (subject: string): PauseTarget => ({ scope, owner: subject, subject });
  switch (scope) {
    case 'grant':
      return { scope, owner: principal.did, subject: grant.id };
    case 'agent':
      return { scope, owner: principal.did, subject: grant.agent };
    case 'principal':
      return whole(principal.did);
    case 'relying_party':
      return whole(relyingParty.did);
    case 'org':
      return whole(orgId);
    case 'service':
      return whole('service');
  }
};

const readAgain = async (world: World): Promise<World> => {
  const principal = await world.store.principals.find(world.principal.did);
  const relyingParty = await world.store.relyingParties.find(world.relyingParty.did);
  if (principal === null || relyingParty === null) throw new Error('the world is gone');
  return { ...world, principal, relyingParty };
};

/** A DENY evaluated while the Grant is paused. */
const denyOf = (world: World, grant: GrantRecord): DecisionCommit => {
  const { did, version } = world.principal;
  return denyCommit(world, {
    ...{ reason: 'AUTHORITY_REVOKED', usedPrincipal: { did, version } },
    ...{ principal: did as DidWeb, grantId: grant.id, agent: grant.agent },
  });
};

/** Changes a pause as the operator's command or a route does. */
export const changePause = (store: Store, target: PauseTarget, isPaused: boolean): Promise<SetPause> =>
  setPause(pauseDeps(store), {
    ...{ caller: SYSTEM, target, isPaused },
    ...{ reason: null, requestId: null },
  });

export const pauseDeps = (store: Store): ServiceDeps =>
  ({
    store,
    clock: { nowMs: () => Date.now() },
    random: { bytes: (length: number) => randomBytes(length) },
    log: { info: () => {}, warn: () => {} },
  }) as unknown as ServiceDeps;

const countOf = async (observer: pg.Client, did: string, decision: string) => {
  const { rows } = await observer.query<{ count: number; latest: number }>(
    `select count(*)::integer as count, coalesce(svc_ms(max(evaluated_at)), 0)::float8 as latest
     from receipts where relying_party = $1 and decision = $2`,
    [did, decision],
  );
  return { count: rows[0]?.count ?? 0, latestMs: rows[0]?.latest ?? 0 };
};
