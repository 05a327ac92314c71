/**
 * Revocations of one Principal on two nodes: no lock is held while lists are signed, and no revocation is lost
 * (protocol §9).
 */
import { generateKeyPairSync } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  type GrantRecord,
  type GrantRepository,
  parseKeySet,
  type Repositories,
  Revoker,
  type ServiceDeps,
  type Store,
  StoreError,
  SYSTEM,
} from '@svc/service';
import { getBit } from '@svc/status-list';
import { sampled } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { createWorld, insertGrant, type World } from '@svc/testkit/store/world';
import { beforeAll, expect, it } from 'vitest';
import type { Database } from './database.ts';
import { grantRepository } from './repositories/grants.ts';
import type { Statement } from './statement.ts';

const stores = withStores();
const DID = 'did:web:svc.example' as DidWeb;
const jwk = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'status-1' };
const statusKeys = parseKeySet({ keys: [jwk] }, 'status', DID);
let world: World;

beforeAll(async () => {
  world = await createWorld(stores.first);
});

interface Node {
  revoke(grant: GrantRecord): Promise<number>;
}

/** `onSign` is called before each signature. */
const node = (store: Store, onSign = async () => {}): Node => {
  const { signer } = statusKeys;
  const sign: typeof signer.sign = async (bytes) => {
    await onSign();
    return signer.sign(bytes);
  };
  const deps = {
    store,
    clock: { nowMs: () => Date.now() },
    crypto: nativeCrypto,
    random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
    identity: { did: DID, statusKeys: { ...statusKeys, signer: { ...signer, sign } } },
    log: { info: () => {} },
  } as unknown as ServiceDeps;
  const revoker = new Revoker();
  return {
    async revoke({ principal, id: grantId }) {
      const order = { deps, caller: SYSTEM, principal, grantId, requestId: 'r' };
      // A revocation that waits longer than it may is refused, and the caller repeats it.
      for (;;)
        try {
          return (await revoker.revoke(order)).revokedAtMs;
        } catch (error) {
          if (!(error instanceof StoreError && error.kind === 'lock_timeout')) throw error;
        }
    },
  };
};

const grantsOf = async (count: number): Promise<GrantRecord[]> => {
  const grants = [];
  for (let i = 0; i < count; i++) grants.push(await insertGrant(world));
  return grants;
};
const isSet = async (tx: Repositories, { statusListUrl, statusIndex }: GrantRecord): Promise<boolean> => {
  const list = await tx.statusLists.findByUrl(statusListUrl);
  return list !== null && getBit(list.bits, statusIndex);
};

it('each bit that two nodes set concurrently is in the list, and each Grant is revoked and audited once', async () => {
  const nodes = [node(stores.first), node(stores.second)];
  const grants = await grantsOf(sampled({ quick: 40, deep: 400 }));
  // Every third revocation is requested on both nodes.
  const asked = grants.flatMap((grant, i) => (i % 3 === 0 ? [0, 1] : [i % 2]).map((at) => ({ grant, at })));
  await Promise.all(asked.map(({ grant, at }) => nodes[at]?.revoke(grant)));
  for (const grant of grants) expect(await isSet(stores.first, grant)).toBe(true);
  const ids = grants.map(({ id }) => id);
  expect(
    await runSql(
      stores.url,
      `select count(*)::integer as events, count(distinct target)::integer as grants from audit_events
       where action = 'grant.revoke' and target = any ($1)`,
      [ids],
    ),
  ).toEqual([{ events: grants.length, grants: grants.length }]);
});

it('no transaction is open during signing, and a list that another node changed meanwhile is signed again', async () => {
  const [grant, other] = await grantsOf(2);
  if (grant === undefined || other === undefined) throw new Error('no Grants');
  const another = node(stores.second);
  const open: unknown[] = [];
  let signatures = 0;
  const slow = node(stores.first, async () => {
    signatures += 1;
    if (signatures > 1) return;
    const text = `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'`;
    open.push(...(await runSql(stores.url, text)));
    await another.revoke(other);
  });
  await slow.revoke(grant);
  expect([open, signatures]).toEqual([[], 2]);
  expect(await Promise.all([grant, other].map((one) => isSet(stores.first, one)))).toEqual([true, true]);
});

it('finding revocations to be completed reads few Grants, however many revocations one Principal has', async () => {
  const MANY = 5_000;
  const PRINCIPALS = 3;
  /** The statement that `ask` sends. */
  const sent = async (ask: (grants: GrantRepository) => Promise<unknown>) => {
    let statement: Statement = { text: '', values: [] };
    const read: Database['read'] = async (one) => {
      statement = one;
      return [];
    };
    await ask(grantRepository({ read, write: read }));
    return statement;
  };
  const principals = await sent((grants) => grants.listUnstampedPrincipals(10, null));
  const some = await sent((grants) => grants.listUnstamped('did:web:p1.example' as DidWeb, 10, 100));
  const read = await withSession(stores.url, async (session) => {
    await session.query(`set session_replication_role = 'replica'`);
    await session.query('begin');
    await session.query(
      `insert into grants (id, principal, agent, status_list_url, status_index, revocation_recorded_at)
       select 'grant_' || n, format('did:web:p%s.example', case when n <= $2 then n else 1 end), 'did:key:a', 'list ' || n, 1,
         svc_now() - interval '1 hour' + n * interval '1 ms'
       from generate_series(1, $1::integer) as n`,
      [MANY, PRINCIPALS],
    );
    await session.query('analyze grants');
    const rowsOf = async ({ text, values }: Statement) => {
      const explained = await session.query(`explain (analyze, format json) ${text}`, [...values]);
      return grantsRead(explained.rows[0]['QUERY PLAN'][0].Plan);
    };
    const counts = [await rowsOf(principals), await rowsOf(some)];
    await session.query('rollback');
    return counts;
  });
  expect(read[0]).toBeGreaterThanOrEqual(PRINCIPALS);
  expect(read[1]).toBeGreaterThanOrEqual(100);
  // Other tests leave rows of their own.
  for (const rows of read) expect(rows).toBeLessThan(MANY / 10);
});

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** Rows of the table that a plan reads, also those that its filter drops. */
const grantsRead = (plan: Plan): number => {
  const each = plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0);
  const own = plan['Relation Name'] === 'grants' ? Math.round(each * plan['Actual Loops']) : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + grantsRead(part), own);
};
