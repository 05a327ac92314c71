import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildWorld,
  documentOf,
  receiptSigner,
  resign,
  SERVICE,
  signerOf,
  statusSigner,
} from '@svc/testkit/receipts/world';
import { type Attestation, type PinnedKey, signAttestation } from '@svc/transparency';
import { describe, expect, it } from 'vitest';
import { verifyBundle } from '../bundle.ts';
import { verifyIncludedReceipt } from '../inclusion.ts';
import { verdictOf, verifyReceipt } from '../index.ts';

/** A Receipt, its closed day, and the later state of the keys. */
const world = await buildWorld();
const day = await closeDayOf(world);
const genuine = world.signed.text;
const { jws } = world.signed;
const newStatus = signerOf(12, `${SERVICE}#status-2`);

const LEAKED = { revoked: '2026-12-01T00:00:00Z', 'svc:validUntil': '2026-12-01T00:00:00Z' };
const ENDED = { 'svc:validUntil': '2026-11-20T00:00:00Z' };
/** The service's document once `status-2` exists, with the given states of the other keys. */
const documentWith = (times: Readonly<Record<string, object>>) => {
  const document = documentOf(SERVICE, { 'receipt-2': 1, 'status-1': 2, 'status-2': 12 });
  const verificationMethod = document.verificationMethod.map((method) => ({
    ...method,
    ...times[String(method.id).split('#')[1] ?? ''],
  }));
  return { ...document, verificationMethod };
};

const hashOf = (text: string) => sha256Of(nativeCrypto, text);
const said: Attestation = {
  iss: SERVICE,
  receipt_id: world.body.receipt_id,
  receipt_hash: hashOf(jws),
  checkpoint_hash: hashOf(day.jws),
  iat: Date.parse('2026-12-01T00:00:01Z') / 1000,
};
const attest = (change: Partial<Attestation> = {}, signer = newStatus) =>
  signAttestation({ ...said, ...change }, signer);

const verify = (
  receipt: unknown,
  attestation: string | undefined,
  times: Readonly<Record<string, object>>,
) => {
  const serviceDidDocument = documentWith(times);
  const { inclusion } = day;
  const given = { receipt, inclusion, serviceDidDocument, crypto: nativeCrypto };
  const included = verifyIncludedReceipt({ ...given, attestation });
  const own = { ...bundleOf(world, day), receipt: JSON.parse(String(receipt)), attestation };
  const bundled = verifyBundle(own, { serviceDidDocument }, nativeCrypto);
  expect(bundled.ok).toBe(included.ok);
  return included.ok ? included.decision : included.failures.map(({ code }) => code);
};

/** A forgery with the leaked key: other content under the id of an included DENY or ALLOW. */
const forgery = await resign(world.body, (draft) => {
  draft.grant_hash = `sha256:${'f'.repeat(64)}`;
});

describe('a Receipt whose key has leaked', () => {
  const times = { 'receipt-2': LEAKED };

  it('is refused by verifyReceipt, whatever its date, because the holder of the key can write any date', () => {
    for (const text of [genuine, forgery])
      expect(verifyReceipt(text, documentWith(times))).toMatchObject({
        ...{
          ok: false,
          failures: [{ code: 'key-not-in-force', message: expect.stringMatching(/compromised.*inclusion/) }],
        },
      });
  });

  it('is accepted with an inclusion proof and an attestation by a key in force', async () => {
    expect(verify(genuine, await attest(), times)).toBe('ALLOW');
    // The clocks of two nodes may differ by this much.
    expect(verify(genuine, await attest({ iat: day.checkpoint.iat - 300 }), times)).toBe('ALLOW');
  });

  it('is refused with an inclusion proof alone, which covers ids but no content', () => {
    expect(verify(genuine, undefined, times)).toEqual(['key-not-in-force']);
    expect(verify(forgery, undefined, times)).toEqual(['key-not-in-force']);
  });

  it('is refused if it has other content under an included id', async () => {
    expect(verify(forgery, await attest(), times)).toEqual(['key-not-in-force']);
  });

  it.each<[string, () => Promise<string>, string]>([
    [
      'of another Receipt',
      () => attest({ receipt_id: 'drc_01M7W6C380WZDX49KZH7TES8VS' }),
      'wrong-attestation',
    ],
    ['of another checkpoint', () => attest({ checkpoint_hash: hashOf('x') }), 'wrong-attestation'],
    [
      'that is dated more than five minutes before the checkpoint',
      () => attest({ iat: day.checkpoint.iat - 301 }),
      'wrong-attestation',
    ],
    ['by the leaked key', () => attest({}, signerOf(1, `${SERVICE}#receipt-2`)), 'wrong-key'],
    [
      'by a key that is not of the service',
      () => attest({}, signerOf(9, `${SERVICE}#status-2`)),
      'wrong-signature',
    ],
  ])('is refused with an attestation %s', async (_, attestation, code) => {
    expect(verify(genuine, await attestation(), times)).toEqual([code]);
  });
});

describe('a Receipt that was altered', () => {
  it('is refused as payload-mismatch, with or without an attestation to its id', async () => {
    const altered = JSON.stringify({ ...JSON.parse(genuine), decision: 'DENY' });
    for (const attestation of [undefined, await attest()])
      expect(verify(altered, attestation, {})).toEqual(['payload-mismatch']);
  });
});

describe('a Receipt dated outside the time of its key', () => {
  it('needs an attestation, while one dated within that time needs none', async () => {
    expect(verify(genuine, undefined, { 'receipt-2': ENDED })).toEqual(['key-not-in-force']);
    expect(verify(genuine, await attest(), { 'receipt-2': ENDED })).toBe('ALLOW');
    expect(verify(genuine, undefined, { 'receipt-2': { 'svc:validUntil': '2026-11-20T10:00:01Z' } })).toBe(
      'ALLOW',
    );
    expect(receiptSigner.kid).toBe(`${SERVICE}#receipt-2`);
  });
});

describe('an attestation by a key that has ended', () => {
  it('does not count for a later day, even if it is dated before the end of the key', async () => {
    const attestation = await attest({ iat: Date.parse('2026-11-19T23:59:59Z') / 1000 }, statusSigner);
    const ended = { 'receipt-2': ENDED, 'status-1': ENDED };
    for (const receipt of [genuine, forgery])
      expect(verify(receipt, attestation, ended)).toContain('wrong-attestation');
  });
});

describe('a checkpoint whose key has leaked', () => {
  it('counts only with an attestation by a key in force', async () => {
    const times = { 'status-1': LEAKED };
    expect(verify(genuine, undefined, times)).toEqual(['key-not-in-force']);
    expect(verify(genuine, await attest(), times)).toBe('ALLOW');
    expect(verify(genuine, await attest({}, statusSigner), times)).toContain('key-not-in-force');
  });

  it('does not make a forged Receipt acceptable when the Receipt key has leaked too', async () => {
    const times = { 'status-1': LEAKED, 'receipt-2': LEAKED };
    expect(verify(genuine, await attest(), times)).toBe('ALLOW');
    expect(verify(forgery, await attest(), times)).toEqual(['key-not-in-force']);
  });
});

describe('verifyBundle with pinned keys', () => {
  const honest = bundleOf(world, day);
  const multikeyOf = (n: number) => String(documentWith({}).verificationMethod[n]?.publicKeyMultibase);
  const [receiptKey, statusKey, newStatusKey] = [multikeyOf(0), multikeyOf(1), multikeyOf(2)];
  const purposeOf = (multikey: string) => (multikey === receiptKey ? 'receipt' : 'status');
  const untimed = (multikey: string) => ({ multikey, purpose: purposeOf(multikey) }) as const;
  const timed = (multikey: string, validUntil: string | null = null) => ({
    ...untimed(multikey),
    ...{ validFrom: '2026-11-01T00:00:00Z', validUntil },
  });
  const check = (bundle: unknown, keys: readonly PinnedKey[]) => {
    const verified = verifyBundle(bundle, { keys }, nativeCrypto);
    if (!verified.ok) return verified.failures.map(({ code, path }) => `${code} ${path}`);
    return verified.assumed.map(({ statement }) => statement);
  };

  it('requires only the key of the attestation to be pinned, not those of the Receipt and the checkpoint', async () => {
    const bundle = {
      ...honest,
      attestation: await attest(),
      did_document: documentWith({ 'receipt-2': LEAKED, 'status-1': LEAKED }),
    };
    expect(verifyBundle(bundle, { keys: [newStatusKey] }, nativeCrypto).ok).toBe(true);
    expect(check(bundle, [timed(newStatusKey)])).toEqual([]);
    for (const keys of [[receiptKey], [statusKey], [receiptKey, statusKey]])
      expect(verifyBundle(bundle, { keys }, nativeCrypto)).toMatchObject({
        ...{ ok: false, failures: [{ code: 'unpinned-key' }] },
      });
  });

  it('assumes that a key was in force if only the document in the bundle says so, and lists the assumption', () => {
    const open = check(honest, [untimed(receiptKey), untimed(statusKey)]);
    expect(open).toEqual([
      expect.stringMatching(/#receipt-2 .* signed while it was in force/),
      expect.stringMatching(/#status-1 .* signed while it was in force/),
    ]);
    expect(check(honest, [timed(receiptKey), untimed(statusKey)])).toEqual([
      expect.stringContaining('#status-1'),
    ]);
    expect(check(honest, [timed(receiptKey), timed(statusKey)])).toEqual([]);
  });

  it('refuses a Receipt or checkpoint dated outside the pinned time, even if the document in the bundle has no end', async () => {
    const ended = [timed(receiptKey, '2026-11-20T00:00:00Z'), timed(statusKey)];
    expect(check(honest, ended)).toEqual(['key-not-in-force /receipt/evaluated_at']);
    const endedStatus = [timed(receiptKey), timed(statusKey, '2026-11-20T00:00:00Z')];
    expect(check(honest, endedStatus)).toEqual(['key-not-in-force /inclusion/checkpoint']);
    // An attestation by the ended key, or by a key that is not pinned, does not help.
    const did_document = documentWith({});
    const own = { ...honest, did_document, attestation: await attest({}, statusSigner) };
    expect(check(own, endedStatus)).toContain('key-not-in-force /attestation');
    const early = await attest({ iat: Date.parse('2026-11-19T23:59:59Z') / 1000 }, statusSigner);
    expect(check({ ...own, attestation: early }, endedStatus)).toContain('wrong-attestation /attestation');
    const other = { ...honest, did_document, attestation: await attest() };
    expect(check(other, ended)).toEqual(['unpinned-key /did_document']);
  });

  it('refuses a Receipt whose attestation is by a pinned key that has ended, even if it is dated before the end', async () => {
    const receipt = await resign(world.body, () => {}, signerOf(9, `${SERVICE}#receipt-7`));
    const attestation = await attest(
      { receipt_hash: hashOf(JSON.parse(receipt).receipt), iat: Date.parse('2026-11-19T23:59:59Z') / 1000 },
      statusSigner,
    );
    const forged = {
      ...{ ...honest, receipt: JSON.parse(receipt), attestation },
      did_document: documentOf(SERVICE, { 'receipt-7': 9, 'status-1': 2 }),
    };
    expect(check(forged, [timed(statusKey, '2026-11-20T00:00:00Z'), timed(newStatusKey)])).toContain(
      'wrong-attestation /attestation',
    );
  });

  it('applies the document in the bundle where it narrows the pinned time of a key', () => {
    const marked = { ...honest, did_document: documentWith({ 'receipt-2': LEAKED }) };
    expect(check(marked, [timed(receiptKey), timed(statusKey)])).toContain(
      'key-not-in-force /receipt/evaluated_at',
    );
  });

  it('takes the narrower of two pinned times of a key, and throws a TypeError for an invalid time', () => {
    const twice = [
      timed(receiptKey),
      timed(receiptKey, '2026-11-20T00:00:00Z'),
      receiptKey,
      timed(statusKey),
    ];
    expect(check(honest, twice)).toEqual(['key-not-in-force /receipt/evaluated_at']);
    expect(() => check(honest, [timed(receiptKey, 'never')])).toThrow(TypeError);
  });
});

describe('verifyIncludedReceipt with an attestation', () => {
  it('refuses a Receipt in force if the attestation is to another Receipt of the same id', async () => {
    const attestation = await attest({ receipt_hash: hashOf('x') });
    expect(verify(genuine, attestation, {})).toEqual(['wrong-attestation']);
    const serviceDidDocument = documentWith({});
    const given = { receipt: genuine, inclusion: day.inclusion, serviceDidDocument, crypto: nativeCrypto };
    expect(verifyIncludedReceipt({ ...given, attestation })).toMatchObject({
      failures: [{ path: '/attestation', message: expect.stringContaining(hashOf('x')) }],
    });
  });

  it('takes it as an object, as its text or as the JWS, and refuses anything else', async () => {
    const jwt = await attest();
    const serviceDidDocument = documentWith({ 'receipt-2': LEAKED });
    const given = { receipt: genuine, inclusion: day.inclusion, serviceDidDocument, crypto: nativeCrypto };
    for (const attestation of [jwt, `${jwt}\n`, { attestation: jwt }, JSON.stringify({ attestation: jwt })])
      expect(verifyIncludedReceipt({ ...given, attestation }).ok).toBe(true);
    for (const attestation of [null, 1, '', {}, '{', { attestation: 1 }])
      expect(verifyIncludedReceipt({ ...given, attestation })).toMatchObject({
        failures: [{ code: 'wrong-attestation', path: '/attestation' }],
      });
  });
});

it.each<[string, () => Promise<string>]>([
  [
    'of rules that only a later version knows',
    () =>
      resign(world.body, (draft) => {
        draft.protocol.profile_hash = draft.grant_hash;
      }),
  ],
  ['under a later key', () => resign(world.body, () => {}, signerOf(5, `${SERVICE}#receipt-3`))],
])('a Receipt %s is undecided, but invalid if its inclusion proof was altered', async (_, sign) => {
  const receipt = await sign();
  const judge = (inclusion: unknown) => {
    const verified = verifyIncludedReceipt({
      ...{ receipt, inclusion, serviceDidDocument: documentWith({}), crypto: nativeCrypto },
    });
    return verdictOf(verified.ok ? [] : verified.failures);
  };
  expect(judge(day.inclusion)).toBe('undecided');
  expect(judge({ ...day.inclusion, root: `sha256:${'0'.repeat(64)}` })).toBe('invalid');
  expect(judge('nonsense')).toBe('invalid');
});
