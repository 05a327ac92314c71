/** What a pause meets in the database, and how pauses are listed. Races with decisions: pause-races.test.ts. */
import type { DidWeb } from '@svc/protocol';
import type { PauseTarget } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { changePause } from '@svc/testkit/store/pause-races';
import { untilRow, withSession } from '@svc/testkit/store/session';
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
    await withSession(stores.url, (session) => untilRow(session, 'select from pg_locks where not granted'));
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
