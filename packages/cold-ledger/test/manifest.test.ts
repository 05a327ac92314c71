import { type DidWeb, signCompactJws } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { SERVICE, serviceDocument, signerOf } from '@svc/testkit/receipts/signed-receipts';
import { sampled } from '@svc/testkit/sampled';
import { readServiceKeys } from '@svc/transparency';
import fc from 'fast-check';
import { afterAll, expect, it } from 'vitest';
import {
  type ColdDay,
  manifestReader,
  type ObjectEntry,
  packTables,
  signColdDay,
  verifyColdDay,
} from '../src/index.ts';
import { DAY, madeUpDay, manifestOf, openFolder, SIZES, sourceOf } from './days.ts';

const { objects, close } = await openFolder();
afterAll(close);
const read = readServiceKeys(serviceDocument);
if (!read.ok) throw new Error('no keys');
const { keys } = read;
const signer = signerOf(2, `${SERVICE}#status-1`);
const verify = (text: string) => verifyColdDay(text, [keys], nativeCrypto);

const [sample] = fc.sample(madeUpDay(14), { numRuns: 1, seed: 5 });
if (sample === undefined) throw new Error('no sample');
const day = await manifestOf(objects, await packTables(objects, DAY, sourceOf(sample), { sizes: SIZES }));
const signed = await signColdDay(day, signer);

it('a signed manifest verifies as what was signed, always has the same text, and works for an empty day', async () => {
  expect(verify(signed)).toEqual({ ok: true, day });
  expect(await signColdDay(structuredClone(day), signer)).toBe(signed);
  const nothing = { receipts: [], attestations: [], consumption_events: [] };
  const empty = await manifestOf(objects, nothing);
  expect(empty.tree_size).toBe(0);
  expect(verify(await signColdDay(empty, signer))).toEqual({ ok: true, day: empty });
});

it('a manifest with any bit flipped is refused', () => {
  const bytes = Buffer.from(signed);
  const law = fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
    const flipped = Buffer.from(bytes);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(verify(flipped.toString('latin1')).ok).toBe(false);
  });
  fc.assert(law, { numRuns: sampled({ quick: 100, deep: 5_000 }) });
});

it('a manifest is refused by another key, with another type, of another service, or in another form', async () => {
  const payload = day as never;
  const typ = 'svc-cold-day+jwt';
  for (const text of [
    await signCompactJws(signerOf(3, signer.kid), { typ }, payload),
    await signCompactJws(signerOf(1, `${SERVICE}#receipt-1`), { typ }, payload),
    await signCompactJws(signer, { typ: 'svc-checkpoint+jwt' }, payload),
    await signCompactJws(signer, { typ }, { ...day, iss: 'did:web:other.test' } as never),
    await signCompactJws(signer, { typ }, JSON.stringify(day, null, 1)),
    '',
    'a.b.c',
  ])
    expect(verify(text).ok).toBe(false);
  expect(verify(await signCompactJws(signer, { typ }, payload)).ok).toBe(true);
});

it('a manifest verifies under each DID that the service has or had, only with the keys of that DID', async () => {
  const other = 'did:web:new.test';
  const present = readServiceKeys(JSON.stringify(serviceDocument).replaceAll(SERVICE, other));
  if (!present.ok) throw new Error('no keys');
  const verifyRenamed = (text: string) => verifyColdDay(text, [present.keys, keys], nativeCrypto);
  expect(verifyRenamed(signed)).toEqual({ ok: true, day });
  expect(verifyRenamed(await signColdDay({ ...day, iss: other }, signer)).ok).toBe(false);
  expect(verifyColdDay(signed, [present.keys], nativeCrypto)).toEqual({
    ok: false,
    problem: `it is of ${SERVICE}, not of ${other}`,
  });
});

it.each(['svc:validUntil', 'revoked'])(
  'a manifest counts under a key of the service whatever the document says of its time in %s',
  async (member) => {
    const verificationMethod = serviceDocument.verificationMethod.map((method) => ({
      ...method,
      [member]: new Date(Date.parse(DAY)).toISOString(),
    }));
    const ended = readServiceKeys({ ...serviceDocument, verificationMethod });
    if (!ended.ok) throw new Error('no keys');
    expect(verifyColdDay(await signColdDay(day, signer), [ended.keys], nativeCrypto)).toEqual({
      ok: true,
      day,
    });
  },
);

/** The manifest with the first object of a table changed. */
const withObject = (change: (object: ObjectEntry) => object, table: keyof ColdDay['tables'] = 'receipts') => {
  const [first, ...others] = day.tables[table];
  if (first === undefined) throw new Error(`no ${table}`);
  return { ...day, tables: { ...day.tables, [table]: [{ ...first, ...change(first) }, ...others] } };
};

it.each([
  ['an unknown schema', { ...day, schema: 2 }],
  ['an additional member', { ...day, note: 1 }],
  ['no root', { ...day, root: null }],
  ['an invalid day', { ...day, day: '2026-02-30' }],
  ['ids of another day', { ...day, day: '2026-10-02' }],
  ['another number of Receipts', { ...day, tree_size: day.tree_size + 1 }],
  ['a missing table', { ...day, tables: { receipts: day.tables.receipts, attestations: [] } }],
  ['objects out of order', { ...day, tables: { ...day.tables, receipts: day.tables.receipts.toReversed() } }],
  [
    'objects that are listed twice',
    { ...day, tables: { ...day.tables, receipts: [...day.tables.receipts, ...day.tables.receipts] } },
  ],
  ['fewer rows in its groups', withObject(({ groups }) => ({ groups: groups.slice(1) }))],
  [
    'groups as large as the whole file',
    withObject(({ groups }) => ({ bytes: groups.reduce((sum, one) => sum + one.bytes, 0) })),
  ],
  ['an object without groups', withObject(() => ({ groups: [], rows: 0 }), 'attestations')],
  ['a negative size', withObject(() => ({ bytes: -1 }))],
  ['an invalid hash', withObject(() => ({ tail_sha256: 'x' }))],
  ['a first id that is not that of its first group', withObject(({ last }) => ({ first: last }))],
])('a manifest is neither signed nor accepted with %s', async (_, changed) => {
  await expect(signColdDay(changed as unknown as ColdDay, signer)).rejects.toThrow(RangeError);
  const text = await signCompactJws(signer, { typ: 'svc-cold-day+jwt' }, changed as never);
  expect(verify(text).ok).toBe(false);
});

it('manifestReader builds the keys once for each set of keys, and follows a change of the set', async () => {
  let built = 0;
  const publishedOf = (kid: string) => {
    const method = serviceDocument.verificationMethod.find(({ id }) => id.endsWith(`#${kid}`));
    const { publicKeyMultibase = '' } = method ?? {};
    const time = { fromMs: null, untilMs: null, isCompromised: false };
    return {
      kid: `${SERVICE}#${kid}`,
      publicKeyMultibase,
      publicKey: new Uint8Array(32),
      canSign: true,
      time,
    };
  };
  const keySetOf = (...kids: string[]) => ({
    signer,
    get published() {
      built += 1;
      return kids.map(publishedOf);
    },
  });
  const identity = {
    did: SERVICE as DidWeb,
    receiptKeys: keySetOf(),
    statusKeys: keySetOf('status-1'),
    formers: [],
  };
  const readText = manifestReader(identity, nativeCrypto);
  for (let i = 0; i < 3; i++) expect(readText(signed)).toEqual(day);
  expect(built).toBe(2);
  identity.statusKeys = keySetOf();
  expect(() => readText(signed)).toThrow('its manifest');
  identity.statusKeys = keySetOf('status-1');
  expect(readText(signed)).toEqual(day);
});
