/** A ledger of closed days with every kind of row that a day may have, and what packing them needs. */
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { manifestReader, type PackDaysDeps, packDays } from '@svc/cold-ledger';
import { DAY_MS, type DidWeb, encodeBase64urlText, encodeUlid, type ReceiptId } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  checkContent,
  closeDays,
  Holds,
  type ObjectStore,
  parseKeySet,
  type ServiceDeps,
  type ServiceIdentity,
  type Store,
} from '@svc/service';
import { readDayRows } from '@svc/store-pg';
import { daysAgo, moveFirstDay, tamper } from '../index.ts';
import type { OpenFolder } from './object-folders.ts';
import { withSession } from './session.ts';

export const HOT_DAYS = 3;
/** Small, so that a day with few rows has several groups and objects. */
const SIZES = { rowsPerGroup: 8, rowsPerObject: 16 };

/**
 * Receipts of each day, the oldest first; the last is yesterday. The first three days are over for three days or more.
 */
const COUNTS = [30, 0, 41, 9, 12, 6];
/**
 * All Receipts of the day that has most of them are in this many milliseconds, from its first to its last: row groups
 * begin, end and lie within one millisecond.
 */
const BURSTS = { day: 2, count: 4 };
export const DAYS = COUNTS.map((_, i) => daysAgo(COUNTS.length - i));
export const DUE = DAYS.slice(0, COUNTS.length - HOT_DAYS);

export const RPS = ['big', 'small', 'tiny'].map((name) => `did:web:${name}.example` as DidWeb);
export const PRINCIPALS = ['acme', 'corp'].map((name) => `did:web:${name}.example` as DidWeb);
export const KEYS = ['aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'];
export const REASONS = ['GRANT_MALFORMED', 'ISSUER_UNVERIFIED', 'PROOF_REPLAYED'];
export const GRANTS = ['1', '2', '3'].map((end) => `urn:svc:grant:01K${end.repeat(23)}`);

/** Repeatable, so that a failure can be investigated; ids are not repeatable. */
const randomFrom = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
};

const newReceipt = (atMs: number, random: (below: number) => number) => {
  const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  const id = `drc_${encodeUlid(atMs, randomBytes(10))}` as ReceiptId;
  const reason = random(3) === 0 ? pick(REASONS) : null;
  const isKnown = reason === null || reason === 'PROOF_REPLAYED';
  const hasAction = reason !== 'GRANT_MALFORMED';
  const text = [`{"alg":"EdDSA"}`, `{"receipt_id":"${id}","n":${random(1_000)}}`].map(encodeBase64urlText);
  return {
    ...{
      id,
      at: atMs,
      reason,
      rp: pick([RPS[0], RPS[0], RPS[0], RPS[1], RPS[2]]),
      key: pick([...KEYS, null]),
    },
    principal: isKnown ? pick(PRINCIPALS) : null,
    grant: hasAction ? pick(GRANTS) : null,
    action: hasAction ? pick(['commerce:purchase', 'api:call']) : null,
    amount: hasAction && random(2) === 0 ? 10_000 + random(90_000) : null,
    counted: random(2) === 0,
    // Mostly in the form of signed ones, and some that are no JWS.
    jws: random(5) === 0 ? `eyz.of.${id}` : `${text.join('.')}.${randomBytes(64).toString('base64url')}`,
  };
};

export type Receipt = ReturnType<typeof newReceipt>;

/** Inserts the world and closes its days. All of it is sealed, counted, and read for the ids it names. */
export const createColdWorld = async (url: string, store: Store): Promise<readonly Receipt[]> => {
  await moveFirstDay(url, DAYS[0] ?? '');
  const random = randomFrom(11);
  const receipts = [...COUNTS, 5].flatMap((count, i) => {
    const startMs = Date.parse(daysAgo(COUNTS.length - i));
    // Today's Receipts are in the part of the day that has passed.
    const lengthMs = i === COUNTS.length ? Math.max(1, Date.now() - startMs - 10_000) : DAY_MS;
    const timeOf = () =>
      i === BURSTS.day
        ? Math.round((random(BURSTS.count) / (BURSTS.count - 1)) * (lengthMs - 1))
        : random(lengthMs);
    return Array.from({ length: count }, () => newReceipt(startMs + timeOf(), random));
  });
  await withSession(url, async (session) => {
    await session.query('select svc_ensure_receipt_partitions($1, $2)', [DAYS[0], daysAgo(0)]);
    const column = (name: keyof Receipt) => receipts.map((one) => one[name]);
    await session.query(
      `insert into receipts (receipt_id, relying_party, principal, grant_id, key_id, decision, reason, evaluated_at,
         action_type, amount, currency, jws, content_hash, production_check)
       select id, rp, principal, grant_id, key, case when reason is null then 'ALLOW' else 'DENY' end, reason,
         to_timestamp(ms / 1000.0), action, amount, case when amount is not null then 'EUR' end, jws,
         sha256(convert_to(jws, 'UTF8')), counted
       from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
         $9::bigint[], $10::text[], $11::boolean[])
         as row (id, rp, principal, grant_id, key, reason, ms, action, amount, jws, counted)`,
      (
        [
          'id',
          'rp',
          'principal',
          'grant',
          'key',
          'reason',
          'at',
          'action',
          'amount',
          'jws',
          'counted',
        ] as const
      ).map(column),
    );
    await session.query(
      `insert into attestations (attestation_id, receipt_id, ordinal, relying_party, principal, evaluated_at, decision,
         type, occurred_at, note, loss_amount, currency)
       select 'oat_' || receipt_id || n, receipt_id, n, relying_party, principal, evaluated_at, decision,
         case n when 1 then 'fulfilled' else 'loss_reported' end, '2026-01-01T00:00:00Z', 'note', 100, 'EUR'
       from receipts, generate_series(1, 2) n where hashtext(receipt_id) % 4 = 0`,
    );
    await session.query(
      `insert into consumption_events (grant_id, version, key, delta_total, delta_period, delta_uses, cause, cause_id,
         receipt_id, recorded_at)
       select grant_id, row_number() over (partition by grant_id order by receipt_id), 'sha256:key', amount, 0, 1,
         'consume', receipt_id, receipt_id, evaluated_at
       from receipts where decision = 'ALLOW' and amount is not null and grant_id is not null`,
    );
  });
  const stop = new AbortController().signal;
  const deps = serviceOf(store);
  await closeDays(deps, stop);
  await checkContent(deps, stop);
  while (!(await store.usage.seal(Date.now())));
  while ((await store.usage.countSealed(1_000)) > 0);
  while ((await store.evidence.nameFromReceipts(1_000)) > 0);
  return receipts;
};

const keySet = (did: DidWeb, purpose: 'receipt' | 'status') => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return parseKeySet({ keys: [{ ...jwk, kid: `${purpose}-1` }] }, purpose, did);
};
const identityOf = (domain: string, formers: ServiceIdentity['formers'] = []): ServiceIdentity => {
  const did = `did:web:${domain}` as DidWeb;
  const keys = { receiptKeys: keySet(did, 'receipt'), statusKeys: keySet(did, 'status') };
  return { did, ...keys, formers } as unknown as ServiceIdentity;
};
/** The service's keys, none of which a database has recorded at first. */
export const identity = identityOf('svc.example');
/** The same service after a change of its DID. */
export const renamed = identityOf('new.example', [identity]);

/** A service with the parts that days need. */
export const serviceOf = (store: Store): ServiceDeps => {
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const clock = { nowMs: () => Date.now(), resync: async () => {} };
  return {
    store,
    clock,
    log,
    crypto: nativeCrypto,
    holds: new Holds(log),
    identity,
  } as unknown as ServiceDeps;
};

/** A place of cold days with the keys of that service. Pages have unlimited time by default. */
export const coldPlaceOf = (objects: ObjectStore, pageMs = 600_000) => ({
  ...{ objects, pageMs },
  readManifest: manifestReader(identity, nativeCrypto),
});

export const packingOf = (url: string, store: Store, objects: ObjectStore): PackDaysDeps => ({
  ...serviceOf(store),
  ...{ objects, hotDays: HOT_DAYS, graceDays: 1, sizes: SIZES },
  readDayRows: (day, work, from) => readDayRows(url, day, work, from),
});

/** Makes every day hot again, as if none had been packed. Rows that were dropped are lost. */
export const bringBack = (url: string): Promise<void> =>
  tamper(
    url,
    `do $$
     declare v_day date;
     begin
       for v_day in select to_date(right(relname, 8), 'YYYYMMDD') from pg_class
         where relname ~ '^detached_receipts_\\d{8}$' loop
         execute format('drop trigger refuse_change on %I', 'detached_receipts_' || to_char(v_day, 'YYYYMMDD'));
         execute format('alter table %I rename to %I', 'detached_receipts_' || to_char(v_day, 'YYYYMMDD'),
           'receipts_' || to_char(v_day, 'YYYYMMDD'));
         execute format('alter table receipts attach partition %I for values from (%L) to (%L)',
           'receipts_' || to_char(v_day, 'YYYYMMDD'), svc_lowest_receipt_id(v_day::timestamp at time zone 'UTC'),
           svc_lowest_receipt_id((v_day + 1)::timestamp at time zone 'UTC'));
       end loop;
       delete from cold_manifests;
       delete from cold_days;
     end $$`,
  );

/**
 * For tests of days that are packed already. Each call of the function that it answers records the due days, which must
 * be hot, as packed, and detaches those that are named, by default all. It answers `objects`, by default a new copy of
 * theirs. Only the first call packs the days, since packing takes most of the time.
 */
export const withPackedDays = (
  stores: { readonly url: string; readonly first: Store },
  openFolder: OpenFolder,
  clock = serviceOf({} as Store).clock,
): ((leaving?: readonly string[], objects?: ObjectStore) => Promise<ObjectStore>) => {
  const pack = async (): Promise<ObjectStore> => {
    const objects = await openFolder();
    const coldDays = { ...stores.first.coldDays, listToDetach: async () => [] };
    const deps = { ...packingOf(stores.url, { ...stores.first, coldDays }, objects), clock };
    await packDays(deps, new AbortController().signal);
    await tamper(stores.url, 'create table packed_days as select * from cold_days; delete from cold_days');
    return objects;
  };
  let packed: Promise<ObjectStore> | undefined;
  return async (leaving = DUE, objects) => {
    packed ??= pack();
    const source = await packed;
    await tamper(stores.url, 'insert into cold_days select * from packed_days');
    const { coldDays } = stores.first;
    for (const day of leaving) {
      while (!(await coldDays.keepVerifiers(day, 1_000)));
      if (!(await coldDays.detach(day))) throw new Error(`${day} is not detached`);
    }
    return objects ?? openFolder(source);
  };
};

/** Records these keys as those of the service, for `fsck`. */
export const recordKeys = async (url: string, { receiptKeys, statusKeys } = identity): Promise<void> => {
  for (const { kid, publicKeyMultibase } of [...receiptKeys.published, ...statusKeys.published])
    await tamper(url, 'insert into service_keys (kid, public_key) values ($1, $2)', [
      kid,
      publicKeyMultibase,
    ]);
};
