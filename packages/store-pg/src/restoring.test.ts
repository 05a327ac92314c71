/** A restore of more Grants than one transaction should mark (protocol §10), cut off after each of its steps. */
import { generateKeyPairSync } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  type FenceStore,
  findLostSpan,
  formatHead,
  parseKeySet,
  releaseGrants,
  restoreLedger,
  type ServiceDeps,
} from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { readRevocationLog } from '@svc/testkit/store/read-revocation-log';
import { runSql } from '@svc/testkit/store/session';
import { createWorld, insertGrant } from '@svc/testkit/store/world';
import { beforeAll, beforeEach, expect, it } from 'vitest';

const stores = withStores();
const DID = 'did:web:svc.example' as DidWeb;
const FORMER = 'did:web:former.example' as DidWeb;
const STEP = 3;
const NEW_GRANTS = 7;

const jwk = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'status-1' };
const statusKeys = parseKeySet({ keys: [jwk] }, 'status', DID);
const deps = () =>
  ({
    store: stores.first,
    clock: { nowMs: () => Date.now() },
    crypto: nativeCrypto,
    random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
    identity: { did: DID, domain: 'svc.example', statusKeys, formers: [{ did: FORMER }] },
  }) as unknown as ServiceDeps;

/** A fence with only a head, which the database lacks. */
const loseHead = async (of = DID): Promise<FenceStore> => {
  const { seq, epoch } = await stores.first.restores.findLast();
  const head = { epoch, seq: seq + 5, nonce: 'f'.repeat(32), atMs: Math.floor(await stores.first.now()) };
  let object = { text: formatHead(of, head), tag: '0' };
  return {
    atOnce: 1,
    find: async () => object,
    put: async (_, text) => {
      object = { text, tag: String(Number(object.tag) + 1) };
      return true;
    },
    list: async () => [],
  };
};

it('findLostSpan accepts the head of the present DID and of a former DID, and refuses that of another deployment', async () => {
  const ofPresent = await findLostSpan(deps(), await loseHead());
  const ofFormer = await findLostSpan(deps(), await loseHead(FORMER));
  expect(ofPresent?.formerDid).toBeNull();
  const { lostFromMs } = ofPresent ?? {};
  expect(ofFormer).toMatchObject({ head: { seq: ofPresent?.head.seq }, lostFromMs, formerDid: FORMER });
  const other = 'did:web:other.example' as DidWeb;
  await expect(findLostSpan(deps(), await loseHead(other))).rejects.toThrow(`the fence is that of ${other}`);
});

type OnProgress = (what: 'withheld' | 'counted', looked: number) => void;

/** Restores as `svc-admin restore --apply` does. */
const restore = async (fenceStore: FenceStore, onProgress: OnProgress, service = deps()) => {
  const span = await findLostSpan(service, fenceStore);
  if (span === null) throw new Error('nothing is lost');
  return restoreLedger(service, fenceStore, span, readRevocationLog([]), { step: STEP, onProgress });
};

interface Marks {
  readonly grants: number;
  /** Grants that the restore with this epoch has marked. */
  readonly marked: number;
}
const countMarks = async (epoch: number): Promise<Marks> => {
  const text = `select count(*)::int as grants, count(*) filter (where withheld_by = $1)::int as marked from grants`;
  const [row] = await runSql<Marks>(stores.url, text, [epoch]);
  return row ?? { grants: 0, marked: 0 };
};

beforeAll(() =>
  runSql(
    stores.url,
    `create table marks (transaction xid8, mark integer);
     create function note_mark() returns trigger language plpgsql as $$ begin
       insert into marks values (pg_current_xact_id(), new.withheld_by); return null;
     end $$;
     create trigger note_mark after update of withheld_by on grants for each row execute function note_mark()`,
  ),
);

beforeEach(async () => {
  const world = await createWorld(stores.first);
  for (let i = 0; i < NEW_GRANTS; i++) await insertGrant(world);
});

it('a restore that is cut off after any step can be repeated, and ends only when all Grants in force are withheld', async () => {
  const fenceStore = await loseHead();
  const { restores } = stores.first;
  const former = await restores.list();
  const epoch = former.length + 1;
  for (let steps = 1; ; steps++) {
    let left = steps;
    const restored = await restore(fenceStore, (what) => {
      left -= 1;
      if (what === 'withheld' && left === 0) throw new Error('cut off');
    }).catch((error: Error) => error.message);
    const { grants, marked } = await countMarks(epoch);
    expect(marked).toBe(Math.min(steps * STEP, grants));
    if (restored !== 'cut off') {
      expect(restored).toMatchObject({ restore: { epoch }, withheld: { inDoubt: grants, others: 0 } });
      break;
    }
    expect(await restores.list()).toEqual(former);
    expect(await findLostSpan(deps(), fenceStore)).not.toBeNull();
  }
  expect(await findLostSpan(deps(), fenceStore)).toBeNull();
  const size = 'select transaction, count(*)::int as size from marks where mark = $1 group by transaction';
  const transactions = await runSql<{ size: number }>(stores.url, size, [epoch]);
  const { grants } = await countMarks(epoch);
  // No transaction marked more than a step, and no Grant was marked twice.
  expect(Math.max(...transactions.map((one) => one.size))).toBe(STEP);
  expect(transactions.reduce((sum, one) => sum + one.size, 0)).toBe(grants);
});

it('a restore withholds Grants that were released or allocated after the last of its steps', async () => {
  const fenceStore = await loseHead();
  const { first } = stores;
  const epoch = (await first.restores.list()).length + 1;
  const world = await createWorld(first);
  const disturb = async () => {
    expect(await releaseGrants(deps(), { all: true })).toMatchObject({ released: marked.grants });
    await insertGrant(world);
  };
  const marked = await countMarks(epoch);
  let isMarked = false;
  const store = Object.assign(Object.create(first), {
    async transaction(...[work, options]: Parameters<typeof first.transaction>) {
      if (isMarked) await disturb();
      isMarked = false;
      return first.transaction(work, options);
    },
  });
  await restore(
    fenceStore,
    (what, looked) => {
      isMarked = what === 'withheld' && looked === marked.grants;
    },
    { ...deps(), store },
  );
  expect(await countMarks(epoch)).toEqual({ grants: marked.grants + 1, marked: marked.grants + 1 });
});

const addBeat = (seq: number) =>
  runSql(
    stores.url,
    `insert into fence_beats (seq, nonce, at) select n, md5(n::text), clock_timestamp() from cast($1 as bigint) as n`,
    [seq],
  );
const listBeats = async () =>
  (await runSql<{ seq: number }>(stores.url, 'select seq::integer from fence_beats order by 1')).map(
    ({ seq }) => seq,
  );

it('a restore keeps all beats of a database that diverged from the fence, and continues after the latest of them', async () => {
  const fenceStore = await loseHead();
  const latest = (await stores.first.restores.findLast()).seq + 50;
  await addBeat(latest);
  const before = await listBeats();
  await restore(fenceStore, () => {});
  expect(await listBeats()).toEqual([...before, latest + 1]);
  expect(await findLostSpan(deps(), fenceStore)).toBeNull();
});

it('a restore is refused while a service is at work on the database, and succeeds after that has stopped', async () => {
  const fenceStore = await loseHead();
  const { restores } = stores.first;
  const former = await restores.list();
  const beside: FenceStore = {
    ...fenceStore,
    async put(...head) {
      await addBeat((await restores.findLast()).seq + 50);
      return fenceStore.put(...head);
    },
  };
  await expect(restore(beside, () => {})).rejects.toThrow('a service is at work on this database');
  expect(await restores.list()).toEqual(former);
  await restore(fenceStore, () => {});
  expect(await restores.list()).toHaveLength(former.length + 1);
  expect(await findLostSpan(deps(), fenceStore)).toBeNull();
});
