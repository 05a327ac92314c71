/** Every part of a bundle is refused when it is tampered with, and the refusal names that part. */

import { encodeMultikey, portableCrypto, sha256Of } from '@svc/protocol';
import { serviceDocument, signedBundle } from '@svc/testkit/receipts/signed-bundle';
import type { Draft } from '@svc/testkit/receipts/signed-receipts';
import { publicKeyOf, SERVICE, signerOf } from '@svc/testkit/receipts/world';
import { signAttestation } from '@svc/transparency';
import { describe, expect, it } from 'vitest';
import { checkBundle } from './check.ts';
import { readPresentedText } from './presented.ts';

const bundle = await signedBundle();
const document = JSON.stringify(serviceDocument);

const check = (value: unknown, pinned: string | null = document) => {
  const item = readPresentedText(JSON.stringify(value));
  if (item.kind !== 'bundle') throw new Error(`taken for ${item.kind}`);
  const checked = checkBundle(item.bundle, pinned);
  const idsOf = (wanted: string) => checked.parts.filter(({ state }) => state === wanted).map(({ id }) => id);
  const { verdict } = checked;
  const wrong = idsOf('wrong');
  // The page then says that the faults are named below.
  if (verdict === 'invalid') expect(wrong).not.toEqual([]);
  return { verdict, wrong, unchecked: idsOf('unchecked') };
};
const changed = (change: (draft: Draft) => void) => {
  const draft = structuredClone(bundle);
  change(draft);
  return draft;
};

const newStatus = signerOf(12, `${SERVICE}#status-2`);
const newStatusMethod = {
  ...{ id: newStatus.kid, type: 'Multikey', controller: SERVICE },
  publicKeyMultibase: encodeMultikey(publicKeyOf(12)),
};
/** The parts that depend on the service's document, in the order of the page. */
const ON_DOCUMENT = ['document', 'key', 'signature', 'time', 'checkpoint', 'inclusion'];

const hashOf = (text: unknown) => sha256Of(portableCrypto, String(text));
/** The bundle as the service answers it once the keys that signed it are no longer in force. */
const attested = async () => ({
  ...bundle,
  attestation: await signAttestation(
    {
      ...{ iss: SERVICE, receipt_id: bundle.receipt.receipt_id, iat: 1_900_000_000 },
      receipt_hash: hashOf(bundle.receipt.receipt),
      checkpoint_hash: hashOf(bundle.inclusion.checkpoint),
    },
    newStatus,
  ),
});

const TAMPERED: readonly (readonly [string, string, (draft: Draft) => void])[] = [
  ['no evidence', 'bundle', (d) => delete d.evidence],
  ['no Receipt', 'bundle', (d) => delete d.receipt],
  ['no inclusion proof', 'bundle', (d) => delete d.inclusion],
  ['a Receipt that says more', 'shown', (d) => (d.receipt.authority.constraints.maxAmount = 1e9)],
  [
    'a Receipt with another signature',
    'signature',
    (d) => (d.receipt.receipt = d.receipt.receipt.replace(/[^.]+$/, 'A'.repeat(86))),
  ],
  ['an evidence file changed', 'artifacts', (d) => (d.evidence[0].body += ' ')],
  ['an evidence file under another hash', 'artifacts', (d) => (d.evidence[0].hash = d.evidence[1].hash)],
  ['an evidence file left out', 'artifacts', (d) => d.evidence.pop()],
  ['evidence that is no list', 'artifacts', (d) => (d.evidence = {})],
  [
    'the proof of another Receipt',
    'inclusion',
    (d) => (d.inclusion.receipt_id = d.checkpoint.first_receipt_id),
  ],
  ['another leaf', 'inclusion', (d) => (d.inclusion.leaf = '0'.repeat(64))],
  ['another index', 'inclusion', (d) => (d.inclusion.leaf_index = 0)],
  ['a sibling changed', 'inclusion', (d) => (d.inclusion.audit_path[0] = '0'.repeat(64))],
  ['a sibling left out', 'inclusion', (d) => d.inclusion.audit_path.pop()],
  ['another root', 'inclusion', (d) => (d.inclusion.root = `sha256:${'0'.repeat(64)}`)],
  [
    'a checkpoint that nobody signed',
    'checkpoint',
    (d) => (d.checkpoint.checkpoint = d.checkpoint.checkpoint.replace(/[^.]+$/, 'A'.repeat(86))),
  ],
  [
    'a checkpoint shown with another root',
    'checkpoint',
    (d) => (d.checkpoint.root = `sha256:${'0'.repeat(64)}`),
  ],
  ['no checkpoint in the checkpoint', 'checkpoint', (d) => (d.checkpoint = { day: d.checkpoint.day })],
];

describe('a bundle with', () => {
  it.each(TAMPERED)('%s is refused: %s', (_, part, change) => {
    const { verdict, wrong } = check(changed(change));
    expect([verdict, wrong]).toEqual(['invalid', expect.arrayContaining([part])]);
  });

  it('a pending proof is undecided, and its inclusion is unchecked', () => {
    const pending = changed((d) => (d.inclusion = { day: d.inclusion.day, status: 'pending' }));
    expect(check(pending)).toEqual({ verdict: 'undecided', wrong: [], unchecked: ['inclusion'] });
  });

  it('a wrong Receipt has its checkpoint and inclusion unchecked', () => {
    const { unchecked } = check(changed((d) => (d.receipt.agent = 'x')));
    expect(unchecked).toEqual(['checkpoint', 'inclusion']);
  });
});

describe('an unaltered bundle', () => {
  it('is valid under the pinned document, with every part ok', () => {
    expect(check(bundle)).toEqual({ verdict: 'valid', wrong: [], unchecked: [] });
  });

  it('is undecided by its own document, and every part that rests on it is unchecked', () => {
    expect(check(bundle, null)).toEqual({ verdict: 'undecided', wrong: [], unchecked: ON_DOCUMENT });
  });

  it('is invalid under the document of another service', () => {
    const other = JSON.parse(document.replaceAll('did:web:svc.example', 'did:web:evil.example'));
    expect(check(bundle, JSON.stringify(other))).toMatchObject({ verdict: 'invalid', wrong: ['document'] });
  });
});

describe('a bundle under a key that has leaked', () => {
  const leaked = JSON.stringify({
    ...serviceDocument,
    verificationMethod: [
      ...serviceDocument.verificationMethod.map((method) => ({ ...method, revoked: '2030-01-01T00:00:00Z' })),
      newStatusMethod,
    ],
    assertionMethod: [...serviceDocument.assertionMethod, newStatusMethod.id],
  });

  it('is undecided as it is, invalid if altered, and valid with the attestation of a key in force', async () => {
    const alone = check(bundle, leaked);
    expect([alone.verdict, alone.wrong]).toEqual(['undecided', []]);
    expect(alone.unchecked).toContain('time');
    const altered = changed((d) => (d.receipt.agent = 'x'));
    expect(check(altered, leaked)).toMatchObject({ verdict: 'invalid' });
    expect(check(await attested(), leaked)).toMatchObject({
      verdict: 'valid',
      wrong: [],
    });
    const ownWord = { ...(await attested()), did_document: JSON.parse(leaked) };
    expect(check(ownWord, null)).toEqual({ verdict: 'undecided', wrong: [], unchecked: ON_DOCUMENT });
  });
});

describe('a bundle under a document that is older than the key of the Receipt', () => {
  const { verificationMethod, ...others } = serviceDocument;
  const isOfReceipts = ({ id }: { readonly id: string }) => id.includes('#receipt-');
  const older = JSON.stringify({
    ...others,
    verificationMethod: verificationMethod.filter((method) => !isOfReceipts(method)),
  });

  it('is undecided, and its key, checkpoint and inclusion are unchecked', () => {
    expect(check(bundle, older)).toEqual({
      ...{ verdict: 'undecided', wrong: [] },
      unchecked: expect.arrayContaining(['key', 'checkpoint', 'inclusion']),
    });
  });

  const altered = TAMPERED.filter(([, part]) => part === 'inclusion' || part === 'checkpoint');
  it.each(altered)('with %s is refused: %s', (_, part, change) => {
    const { verdict, wrong } = check(changed(change), older);
    expect([verdict, wrong]).toEqual(['invalid', expect.arrayContaining([part])]);
  });

  it('is invalid where its own document lacks the key', () => {
    const own = { ...bundle, did_document: JSON.parse(older) };
    expect(check(own, null)).toMatchObject({ verdict: 'invalid', wrong: ['bundle'] });
  });
});

it('a bundle whose own document is malformed or has no keys is invalid, not undecided', () => {
  const forged = changed((draft) => {
    draft.receipt.authority.constraints.maxAmount = 99_999;
    draft.did_document = {};
  });
  expect(check(forged, null).verdict).toBe('invalid');
  const withoutKeys = { ...bundle, did_document: { ...bundle.did_document, verificationMethod: [] } };
  expect(check(withoutKeys, null).verdict).toBe('invalid');
  expect(check(bundle, JSON.stringify(withoutKeys.did_document)).verdict).toBe('undecided');
  expect(
    check(
      changed((draft) => (draft.did_document = {})),
      null,
    ).verdict,
  ).toBe('invalid');
});
