/** Callers may pass any value, often received from third parties: no function throws on it. */
import type { JsonValue } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { attestTo, bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import { buildWorld, serviceDocument } from '@svc/testkit/receipts/world';
import { sampled } from '@svc/testkit/sampled';
import {
  parseSignedCheckpoint,
  verifyAttestation,
  verifyCheckpoint,
  verifyReceiptInclusion,
  verifyRestoreStatement,
} from '@svc/transparency';
import { describe, expect, it } from 'vitest';
import { audit } from '../audit.ts';
import { verifyBundle } from '../bundle.ts';
import { parseReceipt, readServiceKeys, receiptTextOf, verifyReceipt } from '../index.ts';
import { verifyIncludedReceipt } from './verify-included.ts';

const world = await buildWorld();
const day = await closeDayOf(world);
const bundle = bundleOf(world, day);
const genuine = JSON.parse(world.signed.text);
const attestation = { attestation: await attestTo({ id: genuine.receipt_id, jws: genuine.receipt }, day) };
const own = { serviceDidDocument: serviceDocument, crypto: nativeCrypto };
const audited = {
  ...{ grant: world.grant, proof: world.proof, action: world.action, evidence: world.evidence },
  relyingParty: { proofWindowSeconds: 60 },
};

interface Result {
  readonly ok: boolean;
  readonly failures?: readonly { readonly code: string }[];
}
/** Every function that reads a Receipt. */
const readReceipt = (receipt: unknown): readonly Result[] => [
  verifyReceipt(receipt, serviceDocument, { crypto: nativeCrypto }),
  parseReceipt(receipt),
  verifyIncludedReceipt({ receipt, inclusion: day.inclusion, ...own }),
  verifyBundle({ ...bundle, receipt }, own, nativeCrypto),
  audit({ receipt, ...own, ...audited }),
  audit({ receipt, inclusion: day.inclusion, ...own, ...audited }),
];
const codesOf = ({ failures = [] }: Result) => failures.map(({ code }) => code);

type Nesting = readonly [name: string, nest: (inner: string) => string];
const NESTINGS: readonly Nesting[] = [
  ['objects', (inner) => `{"a":${inner}}`],
  ['arrays', (inner) => `[${inner}]`],
  ['objects out of order', (inner) => `{"b":${inner},"a":0}`],
];
const nestedText = (nest: Nesting[1], depth: number, leaf: string): string => {
  const [before = '', after = ''] = nest('|').split('|');
  return `${before.repeat(depth)}${leaf}${after.repeat(depth)}`;
};
const base64url = (text: string) => Buffer.from(text).toString('base64url');
const HEADER = base64url(`{"alg":"EdDSA","kid":"did:web:svc.example#receipt-2","typ":"svc-receipt+jwt"}`);
const jwsOver = (payload: string) => `${HEADER}.${base64url(payload)}.${base64url('x'.repeat(64))}`;
const DEPTHS = sampled({
  quick: [31, 32, 33, 65, 1_000, 8_000],
  deep: [31, 32, 33, 64, 65, 100, 1_000, 2_500, 3_000, 4_000, 8_000],
});

describe.each(NESTINGS)('a Receipt with nested %s', (_, nest) => {
  it.each(DEPTHS)('is refused, with the nesting in its JWS, beside it and in both, at depth %i', (depth) => {
    const payload = (leaf: string) => `{"a":${nestedText(nest, depth, leaf)}}`;
    const beside = { ...JSON.parse(payload('2')), receipt: jwsOver(payload('1')) };
    for (const given of [
      beside,
      JSON.stringify({ receipt: jwsOver(payload('1')) }),
      { ...genuine, receipt: jwsOver(payload('1')) },
      { ...genuine, a: JSON.parse(payload('1')) },
    ])
      for (const result of readReceipt(given)) expect(result.ok).toBe(false);
    expect(receiptTextOf(jwsOver(payload('1')))).toBeNull();
  });
});

it('verification names 100 unknown or changed members of a Receipt, and counts the others', () => {
  const count = 130_000;
  const members = Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 0]));
  const altered = { ...bundle, receipt: { ...genuine, ...members } };
  for (const [verified, code] of [
    [verifyBundle(altered, own, nativeCrypto), 'payload-mismatch'],
    [parseReceipt(members), 'unknown-member'],
  ] as const) {
    const found = verified.ok ? [] : verified.failures.filter((one) => one.code === code);
    expect(found).toHaveLength(101);
    expect(found.at(-1)?.message).toContain(`${count - 100} more`);
  }
});

it('verifyReceipt refuses a payload nested deeper than 32 as payload-not-canonical, without comparing it', () => {
  for (const depth of [32, 33, 64, 4_000]) {
    const payload = nestedText((inner) => `{"a":${inner}}`, depth, '1');
    const codes = codesOf(verifyReceipt({ a: 2, receipt: jwsOver(payload) }, serviceDocument));
    expect(codes.includes('payload-not-canonical'), `${depth}`).toBe(depth > 32);
    expect(codes.includes('payload-mismatch'), `${depth}`).toBe(depth <= 32);
  }
});

const throwing = {
  get evidence(): never {
    throw new Error('of the caller');
  },
};
const cycle: Record<string, unknown> = { ...genuine };
cycle.evidence = cycle;
const revoked = Proxy.revocable({}, {});
revoked.revoke();
const deep = JSON.parse(nestedText((inner) => `{"a":${inner}}`, 10_000, '1')) as JsonValue;
const HOSTILE: readonly (readonly [string, unknown])[] = [
  ['an accessor that throws', throwing],
  ['a nested accessor that throws', { ...genuine, evidence: throwing }],
  ['a cycle', cycle],
  ['a proxy that is revoked', revoked.proxy],
  ['a revoked proxy within', { ...genuine, trust: revoked.proxy }],
  ['a BigInt', { ...genuine, decision: 1n }],
  [
    'a toJSON that throws',
    {
      ...genuine,
      trust: {
        toJSON: () => {
          throw new Error('of the caller');
        },
      },
    },
  ],
  ['a symbol', { ...genuine, decision: Symbol('a') }],
  ['a Receipt nested ten thousand deep', { ...genuine, authority: deep }],
];

const pinnedKeys = readServiceKeys(serviceDocument);
if (!pinnedKeys.ok) throw new Error('the document cannot be read');
const { keys: serviceKeys } = pinnedKeys;
/** Every function that takes the compact JWS of a statement of the service. */
const readStatement = (text: string) => [
  parseSignedCheckpoint(text),
  verifyCheckpoint({ checkpoint: text, ...own }),
  verifyRestoreStatement({ statement: text, ...own }),
  verifyAttestation(text, serviceKeys, nativeCrypto),
];
const REFUSED = {
  ok: false,
  failures: [{ message: expect.stringContaining('must be a compact JWS: it is ') }],
};

describe.each(HOSTILE)('%s is refused without an exception', (_, hostile) => {
  it('in place of a Receipt', () => {
    for (const result of readReceipt(hostile)) expect(result.ok).toBe(false);
  });

  it('in place of a bundle or a part of it', () => {
    expect(verifyBundle(hostile, own, nativeCrypto).ok).toBe(false);
    for (const part of ['receipt', 'inclusion', 'checkpoint', 'attestation', 'evidence'])
      expect(verifyBundle({ ...bundle, [part]: hostile }, own, nativeCrypto).ok, part).toBe(false);
    const pin = { serviceDid: serviceDocument.id };
    expect(verifyBundle({ ...bundle, did_document: hostile }, pin, nativeCrypto).ok).toBe(false);
  });

  it('in place of an inclusion proof, a checkpoint, an attestation or a DID document', () => {
    const right = { receiptId: genuine.receipt_id, inclusion: day.inclusion, checkpoint: day.record };
    const given = { ...right, attestation, ...own };
    expect(verifyReceiptInclusion(given).ok).toBe(true);
    for (const part of ['inclusion', 'checkpoint', 'attestation', 'serviceDidDocument'])
      expect(verifyReceiptInclusion({ ...given, [part]: hostile }).ok, part).toBe(false);
    expect(readServiceKeys(hostile).ok).toBe(false);
    expect(verifyReceipt(genuine, hostile).ok).toBe(false);
  });

  it('in place of the text of a checkpoint, an attestation or a restore statement', () => {
    for (const result of readStatement(hostile as string)) expect(result).toMatchObject(REFUSED);
  });

  it('in place of an Action, and ignored as a page of consumption', () => {
    expect(audit({ receipt: genuine, ...own, ...audited, action: hostile }).ok).toBe(false);
    expect(audit({ receipt: genuine, ...own, ...audited, consumption: [hostile] }).ok).toBe(true);
  });

  it('in place of a Grant or a Proof', () => {
    for (const part of ['grant', 'proof'])
      expect(audit({ receipt: genuine, ...own, ...audited, [part]: hostile }).ok, part).toBe(false);
  });
});

it.each([undefined, null, 5, {}])(
  '%j in place of the text of a statement is refused without an exception',
  (none) => {
    for (const result of readStatement(none as unknown as string)) expect(result).toMatchObject(REFUSED);
  },
);

it('an audit without a Grant, a Proof or evidence fails without an exception', () => {
  for (const part of ['grant', 'proof', 'evidence'])
    for (const none of [null, undefined, 1])
      expect(audit({ receipt: genuine, ...own, ...audited, [part]: none }).ok, part).toBe(false);
});
