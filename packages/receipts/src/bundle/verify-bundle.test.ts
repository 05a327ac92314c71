import { decodeMultikey, encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { attestTo, type Bundle, bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildWorld,
  documentOf,
  publicKeyOf,
  resign,
  SERVICE,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { audit } from '../audit.ts';
import type { PinnedKey } from '../bundle.ts';
import { verifyIncludedReceipt } from '../inclusion.ts';
import { verdictOf } from '../verdict.ts';
import type { BundlePin } from './pin.ts';
import { verifyBundle } from './verify-bundle.ts';

const world = await buildWorld();
const bundle = bundleOf(world, await closeDayOf(world));
const timed = (multikey: string) => ({ multikey, validFrom: '2026-01-01T00:00:00Z', validUntil: null });
const KEYS = { receipt: encodeMultikey(publicKeyOf(1)), status: encodeMultikey(publicKeyOf(2)) };
const RECEIPT_KEY = { ...timed(KEYS.receipt), purpose: 'receipt' as const };
const STATUS_KEY = { ...timed(KEYS.status), purpose: 'status' as const };
const PIN: BundlePin = { serviceDidDocument: serviceDocument };

const verify = (given: unknown, pin: BundlePin = PIN) => verifyBundle(given, pin, nativeCrypto);
const codesOf = (result: ReturnType<typeof verify>) =>
  result.ok ? [] : result.failures.map(({ code, path }) => (path === undefined ? code : `${code} ${path}`));
const changed = (changes: Partial<Record<keyof Bundle, unknown>>, pin: BundlePin = PIN) =>
  codesOf(verify({ ...bundle, ...changes }, pin));

describe('verifyBundle', () => {
  it('accepts a bundle as an object or as text, under a pinned document, pinned keys or a pinned DID', () => {
    const pins: readonly BundlePin[] = [
      PIN,
      { serviceDidDocument: JSON.stringify(serviceDocument), serviceDid: SERVICE },
      { keys: [KEYS.receipt, KEYS.status] },
      { serviceDid: SERVICE },
    ];
    for (const pin of pins)
      for (const given of [bundle, JSON.stringify(bundle)])
        expect(verify(given, pin)).toMatchObject({
          ...{ ok: true, receipt: { receipt_id: world.body.receipt_id }, checkpoint: { day: '2026-11-20' } },
        });
    expect(verifyBundle(bundle, PIN).ok).toBe(true);
  });

  it('returns the evidence that an audit needs', () => {
    const verified = verify(bundle);
    const { grant, proof, action } = world;
    const audited = audit({
      ...{ receipt: bundle.receipt, serviceDidDocument: serviceDocument, grant, proof, action },
      ...{ relyingParty: { proofWindowSeconds: 60 }, crypto: nativeCrypto },
      evidence: verified.ok ? verified.evidence : {},
    });
    expect(audited).toMatchObject({ ok: true, failures: [] });
  });

  it('accepts the bundle of a DENY', async () => {
    const denied = await buildWorld({ revoked: true });
    const verified = verify(bundleOf(denied, await closeDayOf(denied)));
    expect(verified).toMatchObject({ ok: true, receipt: { decision: 'DENY' } });
  });
});

describe('a bundle whose Receipt has a profile hash of a later version', () => {
  const verdictOfChanged = async (changes: Readonly<Record<string, unknown>>, pin: BundlePin = PIN) => {
    const later = await resign(world.body, (draft) => {
      draft.protocol.profile_hash = draft.grant_hash;
    });
    const verified = verify({ ...bundle, receipt: JSON.parse(later), ...changes }, pin);
    return verdictOf(verified.ok ? [] : verified.failures);
  };

  it('is undecided, but invalid if its checkpoint, inclusion proof or attestation was altered', async () => {
    expect(await verdictOfChanged({})).toBe('undecided');
    const { inclusion } = bundle;
    const wrong = `sha256:${'0'.repeat(64)}`;
    expect(await verdictOfChanged({ checkpoint: 'nonsense' })).toBe('invalid');
    expect(await verdictOfChanged({ inclusion: { ...inclusion, root: wrong } })).toBe('invalid');
    expect(await verdictOfChanged({ attestation: 'nonsense' })).toBe('invalid');
  });

  it('is invalid if the DID document in the bundle is malformed, and undecided if the pinned one is', async () => {
    expect(await verdictOfChanged({ did_document: {} }, { serviceDid: SERVICE })).toBe('invalid');
    const verified = verify({ ...bundle, did_document: {} }, { serviceDid: SERVICE });
    expect(codesOf(verified)).toContain('malformed-bundle /did_document');
    // The bundle is not to blame for an unreadable pinned document.
    expect(await verdictOfChanged({}, { serviceDidDocument: {} })).toBe('undecided');
  });
});

describe('a bundle signed by keys that a DID document does not have', () => {
  const lacks = (fragments: Readonly<Record<string, number>>) => documentOf(SERVICE, fragments);
  const verdictBy = (pin: BundlePin, changes: object = {}) => {
    const verified = verify({ ...bundle, ...changes }, pin);
    return verdictOf(verified.ok ? [] : verified.failures);
  };
  const older = [lacks({ 'receipt-2': 1 }), lacks({ 'status-1': 2 }), lacks({})];

  it.each(older)('is undecided if that document is pinned, because it may be older (%#)', (document) => {
    expect(verdictBy({ serviceDidDocument: document })).toBe('undecided');
    const inclusion = { ...bundle.inclusion, root: `sha256:${'0'.repeat(64)}` };
    expect(verdictBy({ serviceDidDocument: document }, { inclusion })).toBe('invalid');
  });

  it('is invalid if the service attests, by a key that the document has, to another Receipt', async () => {
    const kid = `${SERVICE}#receipt-77`;
    const signed = async (change: Parameters<typeof resign>[1]) =>
      JSON.parse(await resign(world.body, change, signerOf(8, kid)));
    const genuine = await signed(() => {});
    const altered = await signed((draft) => (draft.grant_hash = `sha256:${'f'.repeat(64)}`));
    const day = await closeDayOf(world);
    const id = world.body.receipt_id;
    const attestation = await attestTo({ id, jws: genuine.receipt }, day);
    const { inclusion } = day;
    const attested = { serviceDidDocument: serviceDocument, crypto: nativeCrypto, inclusion, attestation };
    for (const [receipt, codes] of [
      [genuine, ['unknown-key']],
      [altered, ['unknown-key', 'wrong-attestation /attestation']],
    ] as const) {
      expect(codesOf(verify({ ...bundle, receipt, attestation }))).toEqual(codes);
      const included = verifyIncludedReceipt({ ...attested, receipt });
      expect(included.ok ? [] : included.failures.map(({ code }) => code)).toEqual(
        codes.map((code) => code.split(' ')[0]),
      );
    }
    expect(verdictBy(PIN, { receipt: altered, attestation })).toBe('invalid');
  });

  it.each(older)('is invalid if that document comes with the bundle (%#)', (document) => {
    expect(verdictBy({ serviceDid: SERVICE }, { did_document: document })).toBe('invalid');
    expect(verdictBy({ keys: [RECEIPT_KEY, STATUS_KEY] }, { did_document: document })).toBe('invalid');
    const codes = changed({ did_document: document }, { serviceDid: SERVICE });
    // The fault of the bundle itself comes first and occurs once, however many keys are missing.
    expect(codes[0]).toBe('malformed-bundle /did_document');
    expect(new Set(codes.slice(1).map((code) => code.split(' ')[0]))).toEqual(new Set(['unknown-key']));
  });
});

describe('the pin', () => {
  /** Everything signed anew with other keys, as anybody can do. */
  const forge = async (): Promise<Bundle> => {
    const receipt = await resign(world.body, () => {}, signerOf(8, `${SERVICE}#receipt-2`));
    const day = await closeDayOf(world, { signer: signerOf(9, `${SERVICE}#status-1`) });
    const own = documentOf(SERVICE, { 'receipt-2': 8, 'status-1': 9 });
    return { ...bundleOf(world, day), receipt: JSON.parse(receipt), did_document: own };
  };

  it('authenticates: a pinned document and pinned keys refuse a bundle signed anew by other keys', async () => {
    const forged = await forge();
    expect(codesOf(verify(forged))).toEqual(['wrong-signature']);
    expect(codesOf(verify(forged, { keys: [KEYS.receipt, KEYS.status] }))).toEqual([
      ...['unpinned-key /did_document', 'unpinned-key /did_document'],
    ]);
  });

  it('authenticates nothing if it is only a DID: verifyBundle lists the keys to compare as assumptions', async () => {
    const honest = verify(bundle, { serviceDid: SERVICE });
    expect(honest.ok && honest.assumed.map(({ statement }) => statement)).toEqual([
      expect.stringContaining(`${SERVICE}#receipt-2 is ${KEYS.receipt}`),
      expect.stringContaining(`${SERVICE}#status-1 is ${KEYS.status}`),
    ]);
    const forged = verify(await forge(), { serviceDid: SERVICE });
    expect(forged.ok && forged.assumed).toHaveLength(2);
    for (const pin of [PIN, { keys: [RECEIPT_KEY, STATUS_KEY] }]) {
      const verified = verify(bundle, pin);
      expect(verified.ok && verified.assumed).toEqual([]);
    }
  });

  it('that lacks the purpose or the time of a key adds the published purpose or time to the assumptions', () => {
    const openOf = (...keys: readonly PinnedKey[]) => {
      const verified = verify(bundle, { keys, serviceDid: SERVICE });
      return verified.ok ? verified.assumed.map(({ statement }) => statement) : [];
    };
    const { purpose: _, ...forAnything } = RECEIPT_KEY;
    expect(openOf(forAnything, STATUS_KEY)).toEqual([
      `${SERVICE}#receipt-2 (${KEYS.receipt}) is a receipt key: pin it with its purpose, or the DID document`,
    ]);
    expect(openOf(RECEIPT_KEY, { multikey: KEYS.status, purpose: 'status' })).toEqual([
      `${SERVICE}#status-1 (${KEYS.status}) signed while it was in force: pin it with its time, or the DID document`,
    ]);
    for (const plain of [KEYS.status, { multikey: KEYS.status }])
      expect(openOf(RECEIPT_KEY, plain)).toEqual([
        expect.stringContaining('#status-1'),
        expect.stringContaining('#status-1'),
      ]);
    // If a key has two pins, the one that says more is used.
    expect(openOf(KEYS.receipt, RECEIPT_KEY, STATUS_KEY)).toEqual([]);
  });

  describe('of a key with its purpose', () => {
    const keys = [RECEIPT_KEY, STATUS_KEY];
    /** A forgery by a person who has only this key and lists it for every purpose. */
    const forgeWith = async (only: number): Promise<Bundle> => {
      const receipt = await resign(world.body, () => {}, signerOf(only, `${SERVICE}#receipt-2`));
      const day = await closeDayOf(world, { signer: signerOf(only, `${SERVICE}#status-1`) });
      const own = documentOf(SERVICE, { 'receipt-2': only, 'status-1': only });
      return { ...bundleOf(world, day), receipt: JSON.parse(receipt), did_document: own };
    };
    /** A forged Receipt with an attestation by `signer`. */
    const forgeAttested = async (signer: number): Promise<Bundle> => {
      const receipt = JSON.parse(await resign(world.body, () => {}, signerOf(8, `${SERVICE}#receipt-2`)));
      const status = signerOf(signer, `${SERVICE}#status-1`);
      const day = await closeDayOf(world, { signer: status });
      const attestation = await attestTo({ id: receipt.receipt_id, jws: receipt.receipt }, day, status);
      const own = documentOf(SERVICE, { 'receipt-2': 8, 'status-1': signer });
      return { ...bundleOf(world, day), receipt, did_document: own, ...{ attestation: { attestation } } };
    };

    it.each([
      ['the receipt key, which signed the checkpoint too', () => forgeWith(1), 'pinned as a receipt key'],
      ['the status key, which signed the Receipt too', () => forgeWith(2), 'pinned as a status key'],
      ['the receipt key, which attests to it', () => forgeAttested(1), 'pinned as a receipt key'],
    ])('refuses a bundle by the holder of %s', async (_, forge, problem) => {
      const forged = await forge();
      const refused = verify(forged, { keys, serviceDid: SERVICE });
      expect(refused).toMatchObject({
        ok: false,
        failures: [{ code: 'unpinned-key', message: expect.stringContaining(problem) }],
      });
      expect(verify(forged).ok).toBe(false);
      // Without purposes the forgery cannot be detected; the assumptions say so.
      const open = verify(forged, { keys: keys.map(({ purpose, ...key }) => key), serviceDid: SERVICE });
      expect(open.ok && open.assumed.map(({ statement }) => statement)).toContainEqual(
        expect.stringContaining('pin it with its purpose'),
      );
    });

    it('refuses such a bundle even if no other key is pinned, and refuses exchanged purposes', async () => {
      for (const [only, key] of [
        [1, RECEIPT_KEY],
        [2, STATUS_KEY],
      ] as const)
        expect(codesOf(verify(await forgeWith(only), { keys: [key] }))).toEqual([
          'unpinned-key /did_document',
        ]);
      const exchanged = [
        { ...RECEIPT_KEY, purpose: 'status' as const },
        { ...STATUS_KEY, purpose: 'receipt' as const },
      ];
      expect(changed({}, { keys: exchanged })).toEqual([
        ...['unpinned-key /did_document', 'unpinned-key /did_document'],
      ]);
    });

    it('accepts both signatures by one key that is pinned for both purposes', async () => {
      const both = [RECEIPT_KEY, { ...RECEIPT_KEY, purpose: 'status' as const }];
      const verified = verify(await forgeWith(1), { keys: both });
      expect(verified.ok && verified.assumed).toEqual([]);
    });
  });

  it('must contain every key that signed', () => {
    for (const one of [KEYS.receipt, KEYS.status])
      expect(changed({}, { keys: [one] })).toEqual(['missing-key /did_document']);
    // The pin is of a different key than the one that made the other signature.
    const other = encodeMultikey(publicKeyOf(5));
    expect(changed({}, { keys: [KEYS.receipt, other] })).toEqual(['unpinned-key /did_document']);
    expect(changed({}, { keys: [other, KEYS.status] })).toEqual(['unpinned-key /did_document']);
    expect(decodeMultikey(KEYS.receipt)).toEqual(publicKeyOf(1));
  });

  it('must not be empty, must have known purposes, and must name the service of the bundle', () => {
    expect(() => verify(bundle, { keys: [] })).toThrow(TypeError);
    expect(() => verify(bundle, {} as BundlePin)).toThrow(TypeError);
    const odd = { ...STATUS_KEY, purpose: 'checkpoint' as 'status' };
    expect(() => verify(bundle, { keys: [odd] })).toThrow(TypeError);
    expect(codesOf(verify(bundle, { serviceDid: 'did:web:other.example' }))).toContain('wrong-service');
  });
});

describe('verifyBundle refuses a bundle', () => {
  const [first] = bundle.evidence;
  const item = first ?? { hash: '', content_type: '', body: '' };

  it('with a member missing as missing-member, and any other value as malformed-bundle', () => {
    for (const name of Object.keys(bundle) as (keyof Bundle)[])
      expect(changed({ [name]: undefined })).toEqual([`missing-member /${name}`]);
    expect(codesOf(verify({}))).toHaveLength(5);
    for (const none of [null, 1, '', '[]', '{', [], world.signed.jws])
      expect(codesOf(verify(none))).toEqual(['malformed-bundle ']);
  });

  it('whose Receipt differs from what was signed', () => {
    const receipt = { ...(bundle.receipt as object), decision: 'DENY' };
    expect(changed({ receipt })).toContain('payload-mismatch /receipt/decision');
  });

  it('with the inclusion proof of another Receipt, or with another checkpoint than the inclusion proof has', async () => {
    const other = await buildWorld({ nowMs: Date.parse('2026-11-20T09:00:00Z') });
    const day = await closeDayOf(other);
    expect(changed({ inclusion: day.inclusion, checkpoint: day.record })).toContain(
      'other-receipt /inclusion/receipt_id',
    );
    expect(changed({ checkpoint: day.record })).toContain('other-checkpoint /inclusion/checkpoint');
  });

  it('with missing or malformed evidence, or evidence that does not match its hash, and names each item', () => {
    const wrong = { ...item, body: `${item.body} ` };
    expect(changed({ evidence: [wrong, ...bundle.evidence.slice(1)] })).toEqual([
      'wrong-evidence /evidence/0/body',
      'missing-evidence /receipt/evidence/issuer_resolution/did_document_hash',
    ]);
    expect(changed({ evidence: [] })).toEqual([
      'missing-evidence /receipt/evidence/issuer_resolution/did_document_hash',
      'missing-evidence /receipt/evidence/status/credential_hash',
    ]);
    // Evidence that the Receipt does not name is accepted, but must have the right hash all the same.
    expect(changed({ evidence: [...bundle.evidence, item] })).toEqual([]);
    expect(changed({ evidence: [...bundle.evidence, wrong] })).toEqual(['wrong-evidence /evidence/2/body']);
    for (const none of [
      null,
      {},
      { ...item, hash: 'x' },
      { ...item, body: 1 },
      { ...item, content_type: undefined },
    ])
      expect(changed({ evidence: [...bundle.evidence, none] })).toEqual(['malformed-member /evidence/2']);
    expect(changed({ evidence: {} })[0]).toBe('malformed-member /evidence');
  });

  it('with more than 16 items of evidence, without reporting on the items', () => {
    const filled = (count: number) => Array.from({ length: count }, (_, i) => bundle.evidence[i] ?? item);
    expect(changed({ evidence: filled(16) })).toEqual([]);
    expect(changed({ evidence: filled(17) })).toEqual(['malformed-member /evidence']);
    const junk = Array.from({ length: 100_000 }, (_, i) => i);
    expect(changed({ evidence: junk })).toEqual(['malformed-member /evidence']);
  });

  it('but accepts evidence in base64url', () => {
    const evidence = bundle.evidence.map(({ body, ...others }) => ({
      ...others,
      body: Buffer.from(body).toString('base64url'),
    }));
    const verified = verify({ ...bundle, evidence });
    expect(verified.ok && verified.evidence).toEqual(world.evidence);
  });

  it('with a changed character in the JWS of its Receipt or checkpoint', () => {
    const text = JSON.stringify(bundle);
    const { checkpoint } = bundle.inclusion as unknown as { checkpoint: string };
    for (const [part, step] of [
      [world.signed.jws, 97],
      [checkpoint, 41],
    ] as const)
      for (let at = 0; at < part.length; at += step) {
        const other = `${part.slice(0, at)}${part[at] === 'A' ? 'B' : 'A'}${part.slice(at + 1)}`;
        expect(verify(text.replaceAll(part, other)).ok).toBe(false);
      }
  });
});
