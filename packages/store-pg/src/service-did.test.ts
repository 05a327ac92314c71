/**
 * A database belongs to one service. Its DID is written once, derived from what the service signed, and changed only by
 * an operator.
 */
import { awayFromMidnight, daysAgo, insertReceipts, receiptIdsOf, tamper, withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { beforeEach, describe, expect, it } from 'vitest';
import { changeServiceDid, claimDatabase, listServiceDids } from './service-did.ts';

await awayFromMidnight();
const database = withDatabase();
const OURS = 'did:web:svc.example';
const TYPO = 'did:web:svc.exmaple';
const day = daysAgo(1);

const claim = (did: string, mayPin = true) => claimDatabase(database.url, { did, mayPin });
const dids = async () => (await listServiceDids(database.url)).map(({ did }) => did);
const naming = (...texts: readonly string[]) => ({
  kind: 'refused',
  message: expect.stringMatching(new RegExp(texts.join('[^]*'))),
});

const knowKeysOf = (...of: readonly string[]) =>
  tamper(
    database.url,
    `insert into service_keys (kid, public_key) select did || '#receipt-1', 'z' from unnest($1::text[]) as known (did)`,
    [of],
  );

/** Makes `did` the signer of the latest Receipt. */
const signAs = async (did: string) => {
  const [id] = receiptIdsOf(day, 1);
  if (id === undefined) throw new Error('no id');
  await insertReceipts(database.url, [id], [day]);
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jws = `${part({ alg: 'EdDSA', kid: `${did}#receipt-1` })}.${part({})}.${'A'.repeat(86)}`;
  await tamper(database.url, 'update receipts set jws = $2 where receipt_id = $1', [id, jws]);
};

beforeEach(async () => {
  for (const table of ['service_dids', 'service_keys', 'receipts', 'audit_events'])
    await tamper(database.url, `delete from ${table}`);
});

describe('a new database', () => {
  it('belongs to the first service that starts on it, and refuses others, naming both DIDs and the command', async () => {
    await claim(OURS);
    await claim(OURS);
    await expect(claim(TYPO)).rejects.toMatchObject(
      naming(`is that of ${OURS}`, TYPO, 'SVC_DOMAIN', `svc-admin service-did change ${TYPO}`),
    );
    await expect(claim(TYPO, false)).rejects.toMatchObject(naming(OURS, TYPO));
    expect(await dids()).toEqual([OURS]);
  });

  it('belongs to exactly one of two services that start at the same time', async () => {
    const ended = await Promise.allSettled([OURS, TYPO, OURS, TYPO].map((did) => claim(did)));
    const [owner] = await dids();
    expect(ended.map(({ status }) => status === 'fulfilled')).toEqual(
      [OURS, TYPO, OURS, TYPO].map((did) => did === owner),
    );
  });

  it('is not claimed by a process without mayPin', async () => {
    await claim(OURS, false);
    expect(await dids()).toEqual([]);
  });
});

describe('a database of a version that stored no DID', () => {
  it('belongs to the signer of its latest Receipt, also if another DID has left keys', async () => {
    await knowKeysOf(OURS, TYPO);
    await signAs(OURS);
    await expect(claim(TYPO)).rejects.toMatchObject(naming('latest Receipts', OURS, TYPO));
    expect(await dids()).toEqual([]);
    await claim(OURS);
    expect(await dids()).toEqual([OURS]);
  });

  it('without Receipts belongs to the DID whose keys it has', async () => {
    await knowKeysOf(OURS);
    await expect(claim(TYPO)).rejects.toMatchObject(naming('has keys of', OURS, TYPO));
    await claim(OURS);
    expect(await dids()).toEqual([OURS]);
  });
});

describe('another service DID', () => {
  it('is set by an operator, keeps the former DID, and is in the audit log', async () => {
    await claim(OURS);
    await changeServiceDid(database.url, 'did:web:new.example');
    expect(await dids()).toEqual([OURS, 'did:web:new.example']);
    expect(await claim('did:web:new.example')).toEqual([OURS]);
    await expect(claim(OURS)).rejects.toMatchObject(naming('new.example', OURS));
    const events = await runSql(database.url, 'select actor_kind, action, target, details from audit_events');
    const details = { from: OURS, to: 'did:web:new.example' };
    expect(events).toEqual([
      { actor_kind: 'admin', action: 'service_did.change', target: 'did:web:new.example', details },
    ]);
    await expect(changeServiceDid(database.url, 'did:web:new.example')).rejects.toMatchObject(
      naming('already'),
    );
  });

  it('cannot replace the stored one: service_dids is append-only', async () => {
    await claim(OURS);
    for (const sql of [
      `update service_dids set did = '${TYPO}'`,
      'delete from service_dids',
      'truncate service_dids',
    ])
      await expect(runSql(database.url, sql), sql).rejects.toThrow('append-only');
  });
});
