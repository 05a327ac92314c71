/** Every part of a Receipt is refused when it is tampered with, and the refusal names that part. */
import type { Receipt } from '@svc/receipts';
import {
  bodyOf,
  type Draft,
  SERVICE,
  serviceDocument,
  signedReceipt,
  signerOf,
  withHeader,
} from '@svc/testkit/receipts/signed-receipts';
import { describe, expect, it } from 'vitest';
import { type Checked, checkReceipt } from './check.ts';
import example from './example.json';
import type { ReceiptPartId } from './parts.ts';
import { readPresentedText } from './presented.ts';
import { saysOf } from './verdict-text.ts';

const allowBody = bodyOf('allow-purchase');
const allow = await signedReceipt(allowBody);
const deny = await signedReceipt(bodyOf('everything-wrong'));
const document = JSON.stringify(serviceDocument);

const check = (text: string, pinned: string | null = document): Checked => {
  const item = readPresentedText(text);
  if (item.kind !== 'receipt') throw new Error(`taken for ${item.kind}`);
  return checkReceipt(item.receipt, pinned);
};
const wrongParts = ({ parts }: Checked) => parts.filter(({ state }) => state === 'wrong').map(({ id }) => id);

/** Changes what is shown after the Receipt was signed. */
const shown = (change: (draft: Draft) => void, receipt: Receipt = allow): string => {
  const draft = structuredClone(receipt);
  change(draft);
  return JSON.stringify(draft);
};
/** A wrong Receipt that the service itself signed. */
const issued = async (change: (draft: Draft) => void): Promise<string> =>
  JSON.stringify(await signedReceipt(allowBody, change));

const text = JSON.stringify(allow);
const otherDocument = JSON.stringify({ ...serviceDocument, id: 'did:web:other.test' });

const withSignature = (signature: string): string => allow.receipt.replace(/[^.]+$/, signature);
const withKid = async (kid: string): Promise<string> =>
  JSON.stringify(await withHeader(allow, 'svc-receipt+jwt', kid));

const TAMPERED: readonly (readonly [string, ReceiptPartId, string, string?])[] = [
  ['a comment in the text', 'text', text.replace('{', '{/**/')],
  ['a member twice', 'text', text.replace('{', '{"decision":"ALLOW",')],
  ['the end cut off', 'text', text.slice(0, -1)],
  ['the amount raised', 'shown', shown((d) => (d.authority.constraints.maxAmount = 9_999_999))],
  [
    'a DENY shown as ALLOW',
    'shown',
    shown((d) => Object.assign(d, { decision: 'ALLOW', reason: null }), deny),
  ],
  ['the reason taken away', 'shown', shown((d) => (d.reason = null), deny)],
  ['another relying party', 'shown', shown((d) => (d.relying_party = 'did:web:evil.example'))],
  ['another Agent', 'shown', shown((d) => (d.agent = d.agent.replace(/.$/, 'x')))],
  ['another time', 'shown', shown((d) => (d.evaluated_at = '2026-11-20T09:00:00.000Z'))],
  ['another receipt id', 'shown', shown((d) => (d.receipt_id = d.receipt_id.replace(/.$/, '0')))],
  ['one check turned', 'shown', shown((d) => (d.protocol.checks.P6 = false))],
  ['another request hash', 'shown', shown((d) => (d.request_hash = d.grant_hash))],
  ['a member added', 'shown', shown((d) => (d.note = 'approved'))],
  ['a member taken out', 'shown', shown((d) => delete d.expires_at)],
  ['no JWS', 'jws', shown((d) => delete d.receipt)],
  ['a JWS of two parts', 'jws', shown((d) => (d.receipt = d.receipt.split('.').slice(0, 2).join('.')))],
  ['padding in the JWS', 'jws', shown((d) => (d.receipt += '='))],
  ['the typ of a checkpoint', 'jws', JSON.stringify(await withHeader(allow, 'svc-checkpoint+jwt'))],
  ['a signature of zeros', 'signature', shown((d) => (d.receipt = withSignature('A'.repeat(86))))],
  [
    'the signature of another Receipt',
    'signature',
    shown((d) => (d.receipt = withSignature(deny.receipt.split('.')[2] ?? ''))),
  ],
  [
    'signed by somebody else',
    'signature',
    JSON.stringify(await signedReceipt(allowBody, undefined, signerOf(9))),
  ],
  ['the kid of the status key', 'key', await withKid(`${SERVICE}#status-1`)],
  ['a kid of another form', 'key', await withKid(`${SERVICE}#receipt-07`)],
  ['the kid of another service', 'document', await withKid('did:web:evil.test#receipt-1')],
  ['the document of another service', 'document', text, otherDocument],
  ['a document without the key', 'key', text, JSON.stringify({ ...serviceDocument, assertionMethod: [] })],
  ['signed, a member of the wrong form', 'members', await issued((d) => (d.grant_hash = 'sha256:1'))],
  ['signed, a failure followed by true', 'checks', await issued((d) => (d.protocol.checks.P16 = false))],
  ['signed, FAIL without a failure', 'checks', await issued((d) => (d.trust.result = 'FAIL'))],
  ['signed, ALLOW with a failure', 'decision', await issued((d) => (d.trust.checks.T5 = false))],
  ['signed, a reason on ALLOW', 'decision', await issued((d) => (d.reason = 'GRANT_EXPIRED'))],
  ['signed, no principal', 'agreement', await issued((d) => delete d.principal)],
  ['signed, an expired Grant', 'agreement', await issued((d) => (d.expires_at = '2020-01-01T00:00:00Z'))],
  [
    'signed, a stale status list',
    'evidence',
    await issued((d) => (d.evidence.status.checked_at = '2020-01-01T00:00:00.000Z')),
  ],
];

describe('checkReceipt names the wrong part:', () => {
  const cases = TAMPERED.map(([what, part, given, pinned = document]) => ({ what, part, given, pinned }));
  it.each(cases)('$what: $part', ({ part, given, pinned }) => {
    const checked = check(given, pinned);
    expect(checked.verdict).toBe('invalid');
    expect(wrongParts(checked)).toContain(part);
    for (const { state, failures } of checked.parts) expect(failures.length > 0).toBe(state === 'wrong');
  });

  it('only `shown` where only the shown content was changed', () => {
    expect(wrongParts(check(shown((d) => (d.agent = 'x'))))).toEqual(['shown']);
  });

  it('parts that depend on a wrong one stay unchecked', () => {
    const { parts } = check(text, otherDocument);
    const states = Object.fromEntries(parts.map(({ id, state }) => [id, state]));
    expect(states).toMatchObject({
      document: 'wrong',
      key: 'unchecked',
      signature: 'unchecked',
      shown: 'ok',
    });
  });
});

const UNDECIDED: readonly (readonly [string, ReceiptPartId, (draft: Draft) => void, string?])[] = [
  ['a profile of a later version', 'checks', (d) => (d.protocol.profile = 'svc-base-v9')],
  ['a profile with another hash', 'checks', (d) => (d.protocol.profile_hash = d.grant_hash)],
  ['a trust configuration of a later version', 'evidence', (d) => (d.evidence.trust_config_version = 'x-2')],
  [
    'a trust configuration with another hash',
    'evidence',
    (d) => (d.evidence.trust_config_hash = d.grant_hash),
  ],
  ['a malformed document', 'document', () => {}, '{"id":7}'],
];

describe('checkReceipt is undecided, as svc-receipt is:', () => {
  const cases = UNDECIDED.map(([what, part, change, pinned = document]) => ({ what, part, change, pinned }));
  it.each(cases)('$what: $part is unchecked, and its failure says why', async ({ part, change, pinned }) => {
    const signed = await issued(change);
    const checked = check(signed, pinned);
    expect([checked.verdict, wrongParts(checked)]).toEqual(['undecided', []]);
    expect(saysOf(checked)).not.toContain('without the service’s document');
    expect(checked.parts.filter(({ failures }) => failures.length > 0)).toMatchObject([
      { id: part, state: 'unchecked' },
    ]);
  });

  it.each(cases.filter(({ part }) => part !== 'document'))(
    '$what, but an altered Receipt of this kind is invalid',
    async ({ change }) => {
      const signed = JSON.parse(await issued(change));
      const [head = '', payload = '', signature = ''] = signed.receipt.split('.');
      const turned = Buffer.from(payload, 'base64url').toString().replace('"PASS"', '"FAIL"');
      const receipt = `${head}.${Buffer.from(turned).toString('base64url')}.${signature}`;
      const stranger = await signedReceipt(allowBody, change, signerOf(9));
      for (const altered of [JSON.stringify({ ...signed, agent: 'x' }), receipt, JSON.stringify(stranger)])
        expect(check(altered).verdict).toBe('invalid');
    },
  );
});

describe('a Receipt under a key that the document does not have', () => {
  const older = JSON.stringify({ id: SERVICE, verificationMethod: [], assertionMethod: [] });

  it('is undecided, its signature is unchecked, and the text says that anybody can have written it', async () => {
    for (const checked of [check(text, older), check(await withKid(`${SERVICE}#receipt-7`))]) {
      expect([checked.verdict, wrongParts(checked)]).toEqual(['undecided', []]);
      expect(saysOf(checked)).toMatch(/no signature was checked: anybody can have written this/);
      const open = checked.parts.filter(({ state }) => state === 'unchecked').map(({ id }) => id);
      expect(open).toEqual(['key', 'signature', 'time']);
    }
  });

  it('is invalid where something else in it is wrong', async () => {
    const altered = shown((d) => (d.agent = 'x'));
    const inconsistent = await issued((d) => (d.trust.checks.T5 = false));
    for (const one of [altered, inconsistent]) expect(check(one, older).verdict).toBe('invalid');
  });
});

describe('a Receipt whose key is not in force', () => {
  const times = [
    { 'svc:validUntil': '2026-11-20T00:00:00Z' },
    { 'svc:validFrom': '2026-12-01T00:00:00Z' },
    { revoked: '2030-01-01T00:00:00Z' },
  ];
  it.each(times)('with %o is undecided and refers to its bundle, or invalid where it was altered', (time) => {
    const verificationMethod = serviceDocument.verificationMethod.map((method) => ({ ...method, ...time }));
    const checked = check(text, JSON.stringify({ ...serviceDocument, verificationMethod }));
    expect([checked.verdict, wrongParts(checked)]).toEqual(['undecided', []]);
    expect(saysOf(checked)).toMatch(
      /^The signature is right, but the key .* The bundle of this Receipt decides/,
    );
    expect(checked.parts.find(({ id }) => id === 'time')).toMatchObject({ state: 'unchecked' });
    const broken = check(
      shown((d) => (d.agent = 'x')),
      JSON.stringify({ ...serviceDocument, verificationMethod }),
    );
    expect(broken.verdict).toBe('invalid');
  });
});

describe('a Receipt as issued', () => {
  const forms: readonly (readonly [string, string])[] = [
    ['its text', text],
    [
      'indented, in another order',
      JSON.stringify(Object.fromEntries(Object.entries(allow).reverse()), null, 2),
    ],
    ['its JWS alone', `\n${allow.receipt}\n`],
    ['a decision of the API', JSON.stringify({ receipt: allow, outcomes: [] })],
    ['a DENY', JSON.stringify(deny)],
  ];
  it.each(forms)('is valid as %s, with every part ok', (_, presented) => {
    const checked = check(presented);
    expect(checked.verdict).toBe('valid');
    expect(new Set(checked.parts.map(({ state }) => state))).toEqual(new Set(['ok']));
  });

  it('is undecided without the document, and names the unchecked parts', () => {
    const checked = check(text, null);
    expect(checked.verdict).toBe('undecided');
    expect(saysOf(checked)).toContain('without the service’s document nobody can say who signed it');
    expect(checked.parts.filter(({ state }) => state !== 'ok').map(({ id }) => id)).toEqual([
      'document',
      'key',
      'signature',
      'time',
    ]);
    expect(
      check(
        shown((d) => (d.agent = 'x')),
        null,
      ).verdict,
    ).toBe('invalid');
  });
});

describe('readPresentedText', () => {
  it.each([
    ['nothing', '  ', 'unreadable'],
    ['prose', 'hello', 'unreadable'],
    ['a number', '7', 'unreadable'],
    ['a DID document', document, 'did-document'],
    ['text that is larger than any bundle', '{'.repeat(17 * 2 ** 20), 'unreadable'],
    [
      'the answer about a day that is open',
      '{"receipt_id":"drc_1","day":"2026-11-20","status":"pending"}',
      'unreadable',
    ],
    ['a JWS that is no Receipt', `${allow.receipt.split('.')[0]}.e30.AAAA`, 'unreadable'],
  ])('classifies %s', (_, given, kind) => {
    expect(readPresentedText(given).kind).toBe(kind);
  });
});

describe('checkReceipt shows no unchecked part as ok:', () => {
  const rightParts = ({ parts }: Checked) => parts.filter(({ state }) => state === 'ok').map(({ id }) => id);

  it.each([
    ['{}', ['text']],
    ['{"receipt":5}', ['text']],
    ['{"receipt":"a.b.c"}', ['text']],
    ['{"decision":"ALLOW"}', ['text']],
  ])('%s has no signature, so only its text is ok', (presented, right) => {
    const checked = check(presented);
    expect(rightParts(checked)).toEqual(right);
    // The parts that are right do not call it a Receipt either.
    for (const { state, means } of checked.parts) if (state === 'ok') expect(means).not.toContain('Receipt');
  });

  it('a Receipt without one of its members has `signature` ok, but not `shown`', () => {
    const incomplete = check(shown((draft) => delete (draft as Partial<Draft>).grant_hash));
    expect(rightParts(incomplete)).not.toContain('shown');
    expect(rightParts(incomplete)).toContain('signature');
  });
});

it('the example of the page is a valid Receipt of the service in its document', () => {
  expect(example).toEqual({ receipt: allow, did_document: serviceDocument });
  expect(check(JSON.stringify(example.receipt), JSON.stringify(example.did_document)).verdict).toBe('valid');
});

it('a Receipt of a later version without a document is undecided, and the text names both causes', async () => {
  const later = await issued((draft) => {
    draft.protocol.profile_hash = draft.grant_hash;
  });
  const checked = check(later, null);
  expect(checked.verdict).toBe('undecided');
  expect(saysOf(checked)).toMatch(
    /A later version of the page may know them\. .*without the service’s document/,
  );
});
