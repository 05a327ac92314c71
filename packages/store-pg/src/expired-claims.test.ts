/** Claims that are not proven in time are released (protocol §13), and above all no others are. */
import { expireClaims } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';

const stores = withStores();
const ORG = 'org_01JCLAIMS000000000000000000';
const HOUR_MS = 3_600_000;

beforeAll(() =>
  runSql(stores.url, `insert into orgs (org_id, slug, name) values ($1, 'claimants', 'An org')`, [ORG]),
);

/** Claims of both kinds; `expiresAtMs` null: proven. */
const insertClaims = async (name: string, expiresAtMs: number | null): Promise<void> => {
  const did = `did:web:${name}.example`;
  await runSql(
    stores.url,
    `insert into principals (did, kind, domain, verification_state, verification_token, may_be_named, org_id, claim_expires_at)
     values ($1, 'hosted', $2, 'unverified', 't', true, $3, to_timestamp($4::bigint / 1000.0))`,
    [did, did.slice('did:web:'.length), ORG, expiresAtMs],
  );
  await runSql(
    stores.url,
    `insert into relying_parties (did, kind, name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id,
       claim_expires_at, verification_token)
     values ($1, 'hosted', 'x', 60, 600, 'svc-base-v1', $2, to_timestamp($3::bigint / 1000.0), 't')`,
    [did, ORG, expiresAtMs],
  );
};
const registered = async (): Promise<readonly string[]> =>
  (
    await runSql<{ did: string }>(
      stores.url,
      `select did from principals union all select did from relying_parties order by did`,
    )
  ).map(({ did }) => did.slice('did:web:'.length, -'.example'.length));

/** Runs the job of a worker whose clock is `aheadMs` ahead of the database's. */
const expire = (aheadMs = 0, onList = async () => {}) => {
  const { first } = stores;
  const listExpiredClaims = async (limit: number) => {
    const dids = await first.principals.listExpiredClaims(limit);
    await onList();
    return dids;
  };
  const deps = {
    store: { ...first, principals: { ...first.principals, listExpiredClaims } },
    clock: { nowMs: () => Date.now() + aheadMs },
    random: { bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)) },
    log: { info: () => {}, warn: () => {} },
  } as unknown as Parameters<typeof expireClaims>[0];
  return expireClaims(deps, new AbortController().signal);
};

it('claims that have expired are released, and later or proven claims stay', async () => {
  await insertClaims('over', Date.now() - 1);
  await insertClaims('tomorrow', Date.now() + 24 * HOUR_MS);
  await insertClaims('proven', null);
  expect(await expire()).toEqual({ released: 2 });
  expect(await registered()).toEqual(['proven', 'proven', 'tomorrow', 'tomorrow']);
});

it("a claim that has expired only by the worker's or only by the database's clock stays", async () => {
  expect(await expire(48 * HOUR_MS)).toEqual({ released: 0 });
  await insertClaims('over', Date.now() - HOUR_MS);
  expect(await expire(-2 * HOUR_MS)).toEqual({ released: 0 });
  expect(await expire()).toEqual({ released: 2 });
});

it('a claim that is proven while the worker releases claims stays', async () => {
  await insertClaims('proven-late', Date.now() - 1);
  const prove = () =>
    runSql(
      stores.url,
      `update principals set claim_expires_at = null where did = 'did:web:proven-late.example'`,
    );
  // Only the relying party of that name is released.
  expect(await expire(0, async () => void (await prove()))).toEqual({ released: 1 });
  expect((await registered()).filter((name) => name === 'proven-late')).toHaveLength(1);
});

it('after a restore no claim is released before its extended time is over, even if it had expired before', async () => {
  await insertClaims('proven-in-the-lost-span', Date.now() - HOUR_MS);
  await stores.first.restores.extendClaims(Date.now() + 7 * 24 * HOUR_MS);
  expect(await expire()).toEqual({ released: 0 });
  expect(await expire(6 * 24 * HOUR_MS)).toEqual({ released: 0 });
  expect(
    await runSql(stores.url, `select did from principals where claim_expires_at < now() + interval '6 days'`),
  ).toEqual([]);
});
