import { createHash, randomBytes } from 'node:crypto';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';

const stores = withStores();
const DOCUMENT_BYTES = 1_000;
const dids = Array.from({ length: 6 }, (_, i) => `did:web:${i}.example`);

/** The last but one has no document. */
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

const listed = async (maxDocumentBytes: number | undefined, limit = 200) =>
  (await stores.first.principals.list({ limit, maxDocumentBytes })).map(({ did }) => did);

it('a list without a bound of its documents, or with one that they do not reach, is whole', async () => {
  for (const bytes of [undefined, 5 * DOCUMENT_BYTES + 1]) expect(await listed(bytes)).toEqual(dids);
  expect(await listed(undefined, 2)).toEqual(dids.slice(0, 2));
});

it('a list ends one Principal after its documents have reached their bound', async () => {
  expect(await listed(1)).toEqual(dids.slice(0, 2));
  expect(await listed(DOCUMENT_BYTES)).toEqual(dids.slice(0, 2));
  expect(await listed(DOCUMENT_BYTES + 1)).toEqual(dids.slice(0, 3));
  expect(await listed(3 * DOCUMENT_BYTES)).toEqual(dids.slice(0, 4));
  expect(await listed(4 * DOCUMENT_BYTES)).toEqual(dids.slice(0, 5));
  expect(await listed(3 * DOCUMENT_BYTES, 2)).toEqual(dids.slice(0, 2));
});
