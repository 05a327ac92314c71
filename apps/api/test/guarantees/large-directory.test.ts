/** The cost of one page of the directory where hosted Principals have documents of the largest size (protocol §13). */
import { createHash } from 'node:crypto';
import { parseStrictJson } from '@svc/protocol';
import { sampled } from '@svc/testkit/sampled';
import { beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { withOwnDeployment } from '../world/deployment.ts';
import { call } from '../world/tenants.ts';

const deployment = withOwnDeployment();
const PRINCIPALS = sampled({ quick: 40, deep: 200 });
/** Largest size of a document, and the most that our client libraries read of an answer. */
const DOCUMENT_BYTES = 65_536;
const READ_BYTES = 2 ** 20;

const documents = new Map<string, string>();

/** Inserts the document as its host sent it, in force from now on. */
const insertHosted = async (did: string, body: string): Promise<void> => {
  const hash = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  await deployment.sql.query(
    `with document as (
      insert into evidence (hash, content_type, body) values ($1, 'application/did+json', convert_to($2, 'UTF8'))
    )
    insert into principals (did, kind, domain, verification_state, verification_token, may_be_named, document_hash, document_resolved_at)
    values ($3, 'hosted', $4, 'unverified', $5, false, $1, svc_now())`,
    [hash, body, did, did.slice('did:web:'.length), `token-of-${did}`],
  );
};

const largeDocument = (did: string): string => {
  const [head, end] = [`{ "id":"${did}",\n"service":[`, '{}]}'];
  return `${head}${'{},'.repeat(Math.floor((DOCUMENT_BYTES - head.length - end.length) / 3))}${end}`;
};

beforeAll(async () => {
  for (let i = 0; i < PRINCIPALS; i++) {
    const did = `did:web:h${String(i).padStart(3, '0')}.example`;
    documents.set(did, largeDocument(did));
    await insertHosted(did, documents.get(did) ?? '');
  }
});

interface Page {
  readonly principals: readonly { readonly did: string }[];
  readonly next_cursor: string | null;
}

const texts = async (query: string): Promise<string[]> => {
  const all: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    // Answers of this size are not checked against their schema here.
    const path = `/principals?${query}${from}`;
    const { status, text } = await call(deployment.process.baseUrl, 'GET', path, { key: ADMIN_TOKEN });
    expect(status).toBe(200);
    all.push(text);
    cursor = (JSON.parse(text) as Page).next_cursor;
  }
  return all;
};

describe(`the directory of ${PRINCIPALS} documents of 64 KB`, () => {
  it('is returned in pages of at most 1 MiB, which together contain every document once', async () => {
    const pages = await texts('kind=hosted&limit=200');
    for (const text of pages) expect(Buffer.byteLength(text)).toBeLessThanOrEqual(READ_BYTES);
    expect(parseStrictJson(pages[0] ?? '').ok).toBe(true);
    const dids = pages.map((text) => (JSON.parse(text) as Page).principals.map(({ did }) => did));
    expect(dids.flat()).toEqual([...documents.keys()]);
    for (const [i, text] of pages.entries())
      for (const did of dids[i] ?? [])
        expect(text.includes(`"did_document":${documents.get(did)},"registered_at"`)).toBe(true);
    expect(pages.length).toBeLessThanOrEqual(Math.ceil(PRINCIPALS / 14));
  });

  it('shows a document as its host sent it, with the same bytes in the list and in the single entry', async () => {
    const [did = '', body = ''] = [...documents][0] ?? [];
    const [page = ''] = await texts('kind=hosted&limit=200');
    const path = `/principals/${encodeURIComponent(did)}`;
    const key = await deployment.createKey('rp', (await deployment.createTenants()).rpDid);
    const { text } = await deployment.call('GET', path, { key });
    expect(text).toContain(`"keys":[],"did_document":${body},"registered_at":`);
    expect(page).toContain(`{"principals":[${text},`);
  });
});

it('the directory shows a number outside the range of a double as null, and other numbers as they were sent', async () => {
  // First in the order of the directory.
  const did = 'did:web:a-number.example';
  const body = (number: string) => `{"id":"${did}","at":[1.50,${number}]}`;
  const shown = async (text: string): Promise<string> => {
    await insertHosted(did, text);
    const path = '/principals?kind=hosted&limit=1';
    const { text: answered } = await call(deployment.process.baseUrl, 'GET', path, { key: ADMIN_TOKEN });
    await deployment.sql.query('delete from principals where did = $1', [did]);
    return /"did_document":(\{"id":"did:web:a-number\..*?\}|null),"registered_at"/.exec(answered)?.[1] ?? '';
  };
  for (const number of ['1e400', `${'9'.repeat(299)}e10`, `${'9'.repeat(250)}e99`])
    expect(await shown(body(number))).toBe(`{"id":"${did}","at":[1.5,null]}`);
  expect(await shown(body('2e3'))).toBe(body('2e3'));
  // Four bytes longer once it is serialised again, so a page with it would exceed the limit.
  const longer = `{"id":"${did}","k":"1e000","x":[${Array.from({ length: 50 }, () => '1e20').join()}]}`;
  expect(await shown(longer)).toBe('null');
});
