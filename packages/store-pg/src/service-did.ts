/**
 * Which service a database belongs to. The first start of a process that may decide pins its DID. From then on a
 * process that is configured as another service is refused before it records a key or signs anything, because a Receipt
 * signed under a mistyped SVC_DOMAIN could never be removed (docs/operations.md, "The name of the service").
 */
import { randomBytes } from 'node:crypto';
import { type DidWeb, didOfKid, encodeUlid, kidOfJws } from '@svc/protocol';
import { StoreError } from '@svc/service';
import type pg from 'pg';
import { clientConfig, openClient } from './client.ts';
import { isServerAnswer, toStoreError, toUnavailable } from './errors.ts';

const CONNECT_MS = 5_000;
/** Counting the issued Receipts reads the whole ledger. */
const DEADLINE_MS = 60_000;
const MAX_JWS_CHARS = 4_194_304;

export interface ServiceDidOptions {
  readonly did: string;
  /** False for a process that only reads this, and need not have the right to write it: the conformance runner. */
  readonly mayPin: boolean;
}

/**
 * Resolves, with the DIDs that the service had before, when the database belongs to `did`; or to no service yet, where
 * this caller may not pin. Rejects with `StoreError` `refused`, which names both DIDs and the remedy. The schema must
 * have been migrated.
 */
export const claimDatabase = (
  databaseUrl: string,
  { did, mayPin }: ServiceDidOptions,
): Promise<readonly DidWeb[]> =>
  withClient(databaseUrl, async (client) => {
    const dids = (await listDids(client)).map((one) => one.did);
    const pinned = dids.at(-1) ?? null;
    if (pinned === did || (pinned === null && !mayPin)) return dids.filter((one) => one !== did);
    if (pinned !== null) throw anotherService(pinned, did, 'this database is that of');
    await assertNotAnother(client, did);
    await client.query('insert into service_dids (number, did) values (1, $1) on conflict do nothing', [did]);
    // Where two processes start together on a new database, one of them has written the row, perhaps with another DID.
    const written = (await listDids(client))[0]?.did ?? '';
    if (written !== did) throw anotherService(written, did, 'this database is that of');
    return [];
  });

export interface ServiceDid {
  readonly did: DidWeb;
  readonly sinceMs: number;
}

/** The DIDs that the service had, the present one last; empty before the first start. */
export const listServiceDids = (databaseUrl: string): Promise<readonly ServiceDid[]> =>
  withClient(databaseUrl, listDids);

/** Counts of what was issued under the present name. */
export interface IssuedUnderDid {
  readonly receipts: number;
  readonly checkpoints: number;
  readonly grants: number;
  readonly managedPrincipals: number;
}

export const countIssued = (databaseUrl: string): Promise<IssuedUnderDid> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query<IssuedUnderDid>(
      `select ((select count(*) from receipts) + (select coalesce(sum(tree_size), 0) from checkpoints join cold_days using (day)
          where state = 'cold'))::float8 as receipts, (select count(*) from checkpoints)::float8 as checkpoints,
        (select count(*) from grants)::float8 as grants,
        (select count(*) from principals where kind = 'managed')::float8 as "managedPrincipals"`,
    );
    return rows[0] ?? { receipts: 0, checkpoints: 0, grants: 0, managedPrincipals: 0 };
  });

/**
 * Pins another DID, with an event in the audit log. Rejects with `StoreError` `refused` where `did` is the present one.
 */
export const changeServiceDid = (databaseUrl: string, did: string): Promise<void> =>
  withClient(databaseUrl, async (client) => {
    await client.query('begin');
    await client.query('lock table service_dids in share row exclusive mode');
    const dids = await listDids(client);
    const from = dids.at(-1)?.did ?? null;
    if (from === did) throw new StoreError('refused', `the service is ${did} already`);
    await client.query('insert into service_dids (number, did) values ($1, $2)', [dids.length + 1, did]);
    await client.query(
      `insert into audit_events (event_id, actor_kind, action, target, details)
       values ($1, 'admin', 'service_did.change', $2, jsonb_build_object('from', $3::text, 'to', $2::text))`,
      [`aud_${encodeUlid(Date.now(), randomBytes(10))}`, did, from],
    );
    await client.query('commit');
  });

/**
 * For a database of a version that pinned no DID. The latest Receipt and checkpoint show which service signed them;
 * without these, the recorded keys show it.
 */
const assertNotAnother = async (client: pg.ClientBase, did: string): Promise<void> => {
  const { rows } = await client.query<{ receipt: string | null; checkpoint: string | null; keys: string[] }>(
    `select (select jws from receipts order by receipt_id desc limit 1) as receipt,
      (select kid from checkpoints order by day desc limit 1) as checkpoint,
      array(select distinct split_part(kid, '#', 1) from service_keys order by 1) as keys`,
  );
  const { receipt = null, checkpoint = null, keys = [] } = rows[0] ?? {};
  const kids = [receipt === null ? null : kidOfJws(receipt, MAX_JWS_CHARS), checkpoint];
  const signedAs = kids.filter((kid) => kid !== null).map(didOfKid);
  const other = signedAs.find((one) => one !== did);
  if (other !== undefined)
    throw anotherService(other, did, 'the latest Receipts of this database are those of');
  if (signedAs.length === 0 && keys[0] !== undefined && !keys.includes(did))
    throw anotherService(keys.join(' and '), did, 'this database has keys of');
};

const anotherService = (its: string, configured: string, of: string): StoreError =>
  new StoreError(
    'refused',
    `${of} ${its}, and this process is configured to be ${configured}. Set SVC_DOMAIN (or SVC_BASE_URL) to that of the former, ` +
      'or DATABASE_URL to the database of the latter (in development also: SVC_DATA_DIR to an empty folder). ' +
      `Where the service is to have another name for good: svc-admin service-did change ${configured}`,
  );

const listDids = async (client: pg.ClientBase): Promise<readonly ServiceDid[]> =>
  (await client.query<ServiceDid>('select did, svc_ms(since) as "sinceMs" from service_dids order by number'))
    .rows;

const withClient = async <T>(
  databaseUrl: string,
  work: (client: pg.ClientBase) => Promise<T>,
): Promise<T> => {
  const config = { ...clientConfig(databaseUrl, DEADLINE_MS), connectionTimeoutMillis: CONNECT_MS };
  const client = await openClient(config).catch((error: unknown) => {
    throw toUnavailable(error);
  });
  try {
    return await work(client);
  } catch (error) {
    throw isServerAnswer(error) ? toStoreError(error, 'nothing') : error;
  } finally {
    client.destroy();
  }
};
