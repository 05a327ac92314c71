/** What a pause meets in the database, and how pauses are listed. Races with decisions: pause-races.test.ts. */
import type { DidWeb } from '@svc/protocol';
import { completePauses, type PauseTarget } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { changePause, pauseDeps } from '@svc/testkit/store/pause-races';
import { runSql, untilWaiting, withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, insertOrg } from '@svc/testkit/store/world';
import { expect, it } from 'vitest';

const stores = withStores();

const change = (target: PauseTarget, isPaused: boolean) => changePause(stores.first, target, isPaused);
const SERVICE: PauseTarget = { scope: 'service', owner: 'service', subject: 'service' };

it('the whole service is paused while its tables are vacuumed', async () => {
  await withSession(stores.url, async (session) => {
    await session.query('begin');
    // As a vacuum has it.
    await session.query('lock table relying_parties, ledger_seal, pauses in share update exclusive mode');
    expect((await change(SERVICE, true)).record).toMatchObject({ isPaused: true });
    expect((await change(SERVICE, false)).record).toMatchObject({ isPaused: false });
    await session.query('rollback');
  });
});

it('a relying party that registers while the service is being paused has its new version, as all others', async () => {
  const { relyingParty } = await createWorld(stores.first);
  let pausing: ReturnType<typeof change> | undefined;
  const registered = await stores.second.transaction(async (tx) => {
    const record = await tx.relyingParties.insert({ ...relyingParty, did: 'did:web:late.example' as DidWeb });
    pausing = change(SERVICE, true);
    await withSession(stores.url, (session) => untilWaiting(session));
    return record;
  });
  await pausing;
  for (const { did, version } of [relyingParty, registered])
    expect((await stores.first.relyingParties.find(did))?.version).toBeGreaterThan(version);
  await change(SERVICE, false);
});

it('what is paused again is the newest of the list', async () => {
  const world = await createWorld(stores.first, await insertOrg(stores.first));
  const ofGrant = async (): Promise<PauseTarget> => {
    const { id, principal } = await insertGrant(world);
    return { scope: 'grant', owner: principal, subject: id };
  };
  const [first, second] = [await ofGrant(), await ofGrant()];
  for (const target of [first, second]) await change(target, true);
  await change(first, false);
  await change(first, true);
  const owners = { principals: [world.principal.did], relyingParties: [], orgs: [] };
  const listed = await stores.first.pauses.list({ owners, limit: 10 });
  expect(listed.map(({ subject }) => subject)).toEqual([first.subject, second.subject]);
});

it('pauses and ends that their caller never heard of are completed 10 s later; others are left alone', async () => {
  const world = await createWorld(stores.first, await insertOrg(stores.first));
  const unheard = { id: (await insertGrant(world)).id, ms: -11_000 };
  const ended = { id: (await insertGrant(world)).id, ms: -12_000 };
  const underWay = { id: (await insertGrant(world)).id, ms: 0 };
  const targetOf = (subject: string): PauseTarget => ({
    scope: 'grant',
    owner: world.principal.did,
    subject,
  });
  for (const { id, ms } of [unheard, ended, underWay]) {
    await change(targetOf(id), true);
    if (id === ended.id) await change(targetOf(id), false);
    await runSql(
      stores.url,
      `update pauses set visible_at = null, changed_at = changed_at + $2 * interval '1 millisecond' where subject = $1`,
      [id, ms],
    );
  }
  const completed = await completePauses(pauseDeps(stores.first), new AbortController().signal);
  const visible = async ({ id }: { readonly id: string }) =>
    (await stores.first.pauses.find(targetOf(id)))?.visibleAtMs;
  expect([completed, await visible(unheard), await visible(ended), await visible(underWay)]).toEqual([
    2,
    expect.any(Number),
    expect.any(Number),
    null,
  ]);
});
