import { createHash, randomBytes } from 'node:crypto';
import type { DidWeb, OrgId } from '@svc/protocol';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';

const stores = withStores();
const DOCUMENT_BYTES = 1_000;
const dids = Array.from({ length: 6 }, (_, i) => `did:web:${i}.example`);

const ORG = 'org_01ARZ3NDEKTSV4RRFFQ69G5FAV' as OrgId;
const keyed = Array.from({ length: 5 }, (_, i) => `did:web:keyed-${i}.example`);
const KEYS = 256;
const KID_BYTES = 760;

/** The last Principal but one has no document. */
beforeAll(async () => {
  for (const did of dids) {
    const body = randomBytes(DOCUMENT_BYTES / 2).toString('hex');
    const hash = did === dids.at(-2) ? null : `sha256:${createHash('sha256').update(body).digest('hex')}`;
    if (hash !== null)
      await runSql(
        stores.url,
        `insert into evidence (hash, content_type, body) values ($1, 'application/json', convert_to($2, 'UTF8'))`,
        [hash, body],
      );
    await runSql(
      stores.url,
      `insert into principals (did, kind, domain, verification_state, verification_token, may_be_named, document_hash, document_resolved_at)
       values ($1, 'hosted', $1, 'unverified', $1, false, $2, case when $2::text is not null then svc_now() end)`,
      [did, hash],
    );
  }
});

/** Verified members of an org, with long kids. The last has a document. */
beforeAll(async () => {
  await stores.first.orgs.insert({ orgId: ORG, slug: 'keyed', name: 'Keyed' });
  for (const did of keyed)
    await runSql(
      stores.url,
      `with inserted as (
         insert into principals (did, kind, domain, verification_state, verified_since, last_proven_at, verification_token, org_id, may_be_named,
           document_hash, document_resolved_at)
         select $1, 'hosted', $1, 'verified', svc_now(), svc_now(), $1, $2, false, hash, case when hash is not null then svc_now() end
         from (select (select min(hash) from evidence where $1 = $5) as hash) as document
         returning did
       )
       insert into principal_keys (kid, principal, public_key_multibase)
       select rpad(did || '#' || n || '-', $3::integer, 'k'), did, 'z' from inserted, generate_series(1, $4::integer) as n`,
      [did, ORG, KID_BYTES, KEYS, keyed.at(-1)],
    );
});

const listed = async (maxBytes: number | undefined, limit = 200) =>
  (await stores.first.principals.list({ limit, maxBytes, state: 'unverified' })).map(({ did }) => did);

it('a list without a byte bound, or with one that its documents do not reach, is complete', async () => {
  for (const bytes of [undefined, 5 * DOCUMENT_BYTES + 1]) expect(await listed(bytes)).toEqual(dids);
  expect(await listed(undefined, 2)).toEqual(dids.slice(0, 2));
});

it('a list ends one Principal after its documents have reached the byte bound', async () => {
  expect(await listed(1)).toEqual(dids.slice(0, 2));
  expect(await listed(DOCUMENT_BYTES)).toEqual(dids.slice(0, 2));
  expect(await listed(DOCUMENT_BYTES + 1)).toEqual(dids.slice(0, 3));
  expect(await listed(3 * DOCUMENT_BYTES)).toEqual(dids.slice(0, 4));
  expect(await listed(4 * DOCUMENT_BYTES)).toEqual(dids.slice(0, 5));
  expect(await listed(3 * DOCUMENT_BYTES, 2)).toEqual(dids.slice(0, 2));
});

it('a list ends one Principal after its keys have reached the byte bound', async () => {
  const listedKeyed = async (maxBytes: number) =>
    (await stores.first.principals.list({ limit: 200, maxBytes, orgId: ORG })).map(({ did }) => did);
  expect(await listedKeyed(1)).toEqual(keyed.slice(0, 2));
  expect(await listedKeyed(KEYS * KID_BYTES)).toEqual(keyed.slice(0, 2));
  expect(await listedKeyed(3 * KEYS * KID_BYTES)).toEqual(keyed.slice(0, 4));
  expect(await listedKeyed(10 * KEYS * KID_BYTES)).toEqual(keyed);
});

it('a verification lapses 72 h after the last proof in every query, and a later proof begins a new one', async () => {
  const did = keyed[0] as DidWeb;
  const { principals } = stores.first;
  const seen = async () => {
    const found = await principals.find(did);
    const among = async (state: 'verified' | 'unverified') =>
      (await principals.list({ limit: 200, orgId: ORG, state })).some((listed) => listed.did === did);
    const member = (await principals.listOfOrg(ORG)).find((listed) => listed.did === did);
    const inForce = [found?.verificationState, member?.verificationState];
    const since = [found, member].map((record) => record?.verifiedSinceMs != null);
    return {
      inForce,
      since,
      listed: [await among('verified'), await among('unverified')],
      version: found?.version,
    };
  };
  const proven = (age: string) =>
    runSql(
      stores.url,
      `update principals set last_proven_at = svc_now() - $2::interval, verified_since = svc_now() - interval '9 days' where did = $1`,
      [did, age],
    );
  await proven('71 hours 59 minutes');
  const verified = { inForce: ['verified', 'verified'], since: [true, true], listed: [true, false] };
  const { version = 0 } = await seen();
  expect(await seen()).toMatchObject(verified);
  await proven('72 hours 1 second');
  const unverified = { inForce: ['unverified', 'unverified'], since: [false, false], listed: [false, true] };
  expect(await seen()).toMatchObject({ ...unverified, version });
  expect(await principals.find(did)).toMatchObject({ recordedState: 'verified' });

  await principals.recordVerification(did, { state: 'verified', proven: true });
  expect(await seen()).toMatchObject({ ...verified, version: version + 1 });
  const { verifiedSinceMs, lastProvenMs } = (await principals.find(did)) ?? {};
  expect(verifiedSinceMs).toBe(lastProvenMs);
  await proven('73 hours');
  await principals.recordVerification(did, { state: 'unverified', proven: false });
  expect(await seen()).toMatchObject({ ...unverified, version: version + 2 });
});

it('listOfOrg lists the members of an org without their documents and keys', async () => {
  const { document, keys, ...member } = (await stores.first.principals.find(keyed.at(-1) as string)) ?? {};
  expect([document?.body.length, keys?.length]).toEqual([DOCUMENT_BYTES, KEYS]);
  const members = await stores.first.principals.listOfOrg(ORG);
  expect(members.map(({ did }) => did)).toEqual(keyed);
  expect(members.at(-1)).toStrictEqual(member);
});
