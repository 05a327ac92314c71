import { readFileSync } from 'node:fs';
import { nativeCrypto } from '@svc/protocol/native';
import { attestTo, closeDayOf } from '@svc/testkit/receipts/closed-day';
import { buildWorld, documentOf, SERVICE, serviceDocument, signerOf } from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { type InclusionToVerify, verifyReceiptInclusion } from './verify-inclusion.ts';

const world = await buildWorld();
const receiptId = world.body.receipt_id;
const closed = await closeDayOf(world);
const { inclusion, record, jws } = closed;

/** Characters around a JWS or an object that every library accepts or refuses alike. */
const SHARED: Readonly<Record<'taken' | 'refused', readonly string[]>> = JSON.parse(
  readFileSync(new URL('../../../../kits/white-space.json', import.meta.url), 'utf8'),
);

const verify = (changes: Partial<InclusionToVerify> = {}) =>
  verifyReceiptInclusion({
    ...{ receiptId, inclusion, serviceDidDocument: serviceDocument, crypto: nativeCrypto },
    ...changes,
  });
const codesOf = (result: ReturnType<typeof verify>) =>
  result.ok ? [] : result.failures.map(({ code, path }) => (path === undefined ? code : `${code} ${path}`));
const withProof = (changes: object) => codesOf(verify({ inclusion: { ...inclusion, ...changes } }));

describe('verifyReceiptInclusion', () => {
  it('accepts a Receipt at any position in the checkpoint of its day', async () => {
    for (const [before, after] of [
      [0, 0],
      [0, 1],
      [1, 0],
      [0, 6],
      [6, 0],
      [300, 200],
    ] as const) {
      const day = await closeDayOf(world, { before, after });
      expect(verify({ inclusion: day.inclusion, checkpoint: day.record })).toEqual({
        ...{
          ok: true,
          checkpoint: day.checkpoint,
          kid: `${SERVICE}#status-1`,
          leafIndex: before,
          attestation: null,
        },
      });
    }
  });

  it('accepts objects and texts, with the checkpoint in the proof, beside it, or as its JWS', () => {
    for (const proof of [inclusion, JSON.stringify(inclusion)])
      for (const checkpoint of [undefined, record, JSON.stringify(record), jws, `${jws}\n`])
        expect(verify({ inclusion: proof, checkpoint }).ok).toBe(true);
    expect(
      verifyReceiptInclusion({ receiptId, inclusion, serviceDidDocument: JSON.stringify(serviceDocument) })
        .ok,
    ).toBe(true);
  });

  it('accepts only JSON white space around the JWS of a checkpoint or an attestation', async () => {
    const attestation = await attestTo({ id: receiptId, jws: world.signed.jws }, closed);
    for (const around of SHARED.taken) {
      const [checkpoint, attested] = [jws, attestation].map((one) => around + one + around);
      expect(codesOf(verify({ checkpoint, attestation: attested }))).toEqual([]);
    }
    for (const around of SHARED.refused) {
      for (const checkpoint of [around + jws, jws + around])
        expect(codesOf(verify({ checkpoint }))).toContain('other-checkpoint /checkpoint');
      expect(codesOf(verify({ attestation: around + attestation + around }))).toEqual([
        expect.stringMatching(/^wrong-attestation/),
      ]);
    }
  });

  it('refuses the proof of another Receipt', async () => {
    const other = (await buildWorld({ nowMs: Date.parse('2026-11-20T09:00:00Z') })).body.receipt_id;
    expect(codesOf(verify({ receiptId: other }))).toEqual([
      ...['other-receipt /receipt_id', 'wrong-leaf /leaf', 'not-included /audit_path'],
    ]);
    // Changing the proof so that it names the other Receipt does not help.
    expect(codesOf(verify({ receiptId: other, inclusion: { ...inclusion, receipt_id: other } }))).toEqual([
      ...['wrong-leaf /leaf', 'not-included /audit_path'],
    ]);
  });

  it('refuses a Receipt of another day', async () => {
    const other = (await buildWorld({ nowMs: Date.parse('2026-11-19T09:00:00Z') })).body.receipt_id;
    expect(codesOf(verify({ receiptId: other, inclusion: { ...inclusion, receipt_id: other } }))).toContain(
      'wrong-time /day',
    );
  });
});

describe('verifyReceiptInclusion refuses a proof', () => {
  it.each([
    ['leaf', 'b'.repeat(64), 'wrong-leaf'],
    ['leaf_index', 2, 'not-included /audit_path'],
    ['leaf_index', 0, 'not-included /audit_path'],
    ['leaf_index', 8, 'not-included /audit_path'],
    ['tree_size', 8, 'contradiction /tree_size'],
    ['tree_size', 2 ** 40, 'contradiction /tree_size'],
    ['root', `sha256:${'b'.repeat(64)}`, 'contradiction /root'],
    ['day', '2026-11-19', 'contradiction /day'],
    ['kid', `${SERVICE}#status-2`, 'contradiction /kid'],
    ['audit_path', inclusion.audit_path.slice(1), 'not-included'],
    ['audit_path', [...inclusion.audit_path, 'b'.repeat(64)], 'not-included'],
    ['audit_path', inclusion.audit_path.toReversed(), 'not-included'],
  ])('with another %s (%#)', (name, value, code) => {
    const codes = withProof({ [name]: value });
    expect(codes).toHaveLength(1);
    expect(codes[0]).toContain(code);
  });

  it.each([
    ['receipt_id', 'drc_x'],
    ['day', '2026-02-30'],
    ['leaf', 'B'.repeat(64)],
    ['leaf_index', -1],
    ['leaf_index', 2 ** 53],
    ['tree_size', 0],
    ['root', 'b'.repeat(64)],
    ['audit_path', ['b'.repeat(63)]],
    ['audit_path', Array(54).fill('b'.repeat(64))],
    ['audit_path', 'b'],
    ['checkpoint', null],
    ['kid', 1],
  ])('with a malformed %s (%#)', (name, value) => {
    expect(withProof({ [name]: value })).toContain(`malformed-member /${name}`);
  });

  it('with any bit of its audit path flipped', () => {
    inclusion.audit_path.forEach((step, at) => {
      for (let bit = 0; bit < 256; bit++) {
        const bytes = Buffer.from(step, 'hex');
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        const path = inclusion.audit_path.with(at, bytes.toString('hex'));
        expect(withProof({ audit_path: path })).toEqual(['not-included /audit_path']);
      }
    });
  });

  it('that is malformed, without an exception, and names every missing member', () => {
    for (const none of [null, 1, 'x', '', [], '[]', '{"a":1,"a":2}', 'x'.repeat(70_000)])
      expect(codesOf(verify({ inclusion: none }))).toEqual(['malformed-inclusion']);
    expect(codesOf(verify({ inclusion: {} }))).toHaveLength(9);
  });

  it('with inclusion-pending while the day is open', () => {
    const pending = { receipt_id: receiptId, day: '2026-11-20', status: 'pending' };
    expect(codesOf(verify({ inclusion: pending }))).toEqual(['inclusion-pending']);
  });
});

describe('the checkpoint of an inclusion proof', () => {
  it('must be signed by a status key of the pinned service', async () => {
    const forged = await closeDayOf(world, { signer: signerOf(9, `${SERVICE}#status-1`) });
    expect(codesOf(verify({ inclusion: forged.inclusion }))).toEqual(['wrong-signature /checkpoint']);
    const unknown = await closeDayOf(world, { signer: signerOf(2, `${SERVICE}#status-9`) });
    expect(codesOf(verify({ inclusion: unknown.inclusion }))).toEqual(['unknown-key /checkpoint']);
    const other = documentOf('did:web:other.example', { 'status-1': 2 });
    expect(codesOf(verify({ serviceDidDocument: other }))).toEqual(['wrong-service /checkpoint']);
    expect(codesOf(verify({ serviceDid: 'did:web:other.example' }))).toEqual(['wrong-service']);
    const receiptKey = await closeDayOf(world, { signer: signerOf(1, `${SERVICE}#receipt-2`) });
    expect(codesOf(verify({ inclusion: receiptKey.inclusion }))).toEqual(['wrong-header /checkpoint']);
  });

  it('must equal the checkpoint given beside the proof; the first difference is named', async () => {
    const fork = await closeDayOf(world, { after: 6 });
    const result = verify({ checkpoint: fork.record });
    expect(codesOf(result)[0]).toBe('other-checkpoint /checkpoint');
    expect(JSON.stringify(result)).toContain('its tree_size is 10, in the proof 9');
    // The given checkpoint is the one used: the proof must lead to it.
    expect(codesOf(result)).toContain('contradiction /root');
  });

  it('must be shown with the values that were signed', () => {
    for (const change of [
      { root: `sha256:${'b'.repeat(64)}` },
      { tree_size: 8 },
      { kid: 'x' },
      { checkpoint_hash: 'x' },
    ])
      expect(codesOf(verify({ checkpoint: { ...record, ...change } }))).toEqual([
        'payload-mismatch /checkpoint',
      ]);
    for (const none of [{}, 1, '{}', '{', null])
      expect(codesOf(verify({ checkpoint: none }))).toEqual(['malformed-checkpoint']);
    expect(codesOf(verify({ checkpoint: 'x' }))).toContain('malformed-jws /checkpoint');
  });
});
