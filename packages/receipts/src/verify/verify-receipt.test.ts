import {
  encodeBase64url,
  encodeMultikey,
  encodeUlid,
  encodeUtf8,
  type JsonObject,
  jcs,
  type ReceiptBody,
  signCompactJws,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { budgeted, capabilityOf } from '@svc/testkit/receipts/budgets';
import {
  API_CALL,
  buildWorld,
  type Draft,
  documentOf,
  receiptSigner,
  resign,
  SERVICE,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { describe, expect, it } from 'vitest';
import { type FailureCode, parseReceipt, RECEIPT_MAX_CHARS, RECEIPT_TYP, verifyReceipt } from '../index.ts';
import { spliceReceipt } from '../receipt-text.ts';
import { verdictOf } from '../verdict.ts';

const allow = await buildWorld();
const api = await buildWorld({ action: API_CALL });
const unauthenticated = await buildWorld({ facts: { principal: 'absent' } });
const unavailable = await buildWorld({ facts: { status: 'unavailable' } });
const BUDGET = capabilityOf({ maxTotal: 100_000, maxPerPeriod: 50_000, period: 'day', maxUses: 3 });
const consumed = await buildWorld(budgeted([BUDGET]));
const CONSUMPTION = consumed.body.evidence.consumption;

const failuresOf = (receipt: unknown, document: unknown = serviceDocument, serviceDid?: string) => {
  const options = serviceDid === undefined ? {} : { serviceDid };
  const portable = verifyReceipt(receipt, document, options);
  expect(verifyReceipt(receipt, document, { ...options, crypto: nativeCrypto })).toEqual(portable);
  return portable.ok ? [] : portable.failures;
};

const codesOf = (...args: Parameters<typeof failuresOf>) =>
  failuresOf(...args).map(({ code, path }) => (path === undefined ? code : `${code} ${path}`));

const profileOf = ({ protocol: { profile, profile_hash } }: ReceiptBody) => ({ profile, profile_hash });

const changed = (change: (draft: Draft) => void) => resign(allow.body, change);
const shown = (change: (draft: Draft & { receipt: unknown }) => void): unknown => {
  const draft = JSON.parse(allow.signed.text);
  change(draft);
  return draft;
};
/** Signs any payload text under any header. */
const forge = async (payloadText: string, header: JsonObject): Promise<unknown> => {
  const input = `${encodeBase64url(encodeUtf8(JSON.stringify(header)))}.${encodeBase64url(encodeUtf8(payloadText))}`;
  const signature = await receiptSigner.sign(encodeUtf8(input));
  return { ...JSON.parse(payloadText), receipt: `${input}.${encodeBase64url(signature)}` };
};
const HEADER = { alg: 'EdDSA', kid: receiptSigner.kid, typ: 'svc-receipt+jwt' };
const bodyText = jcs(allow.body as unknown as JsonObject);
const withMethod = (change: object) => ({
  ...serviceDocument,
  verificationMethod: serviceDocument.verificationMethod.map((method) =>
    method.id === receiptSigner.kid ? { ...method, ...change } : method,
  ),
});
const SMALL_ORDER = encodeMultikey(new Uint8Array([1, ...new Uint8Array(31)]));

it.each([
  [
    'verifyReceipt asks for the whole answer if it is given a JWS alone',
    allow.signed.jws,
    /this is a JWS, pass the whole answer$/,
  ],
  [
    'verifyReceipt names the character at which malformed JSON breaks off',
    '{"receipt":',
    /must be strict JSON: .* at character 11$/,
  ],
])('%s', (_, given, message) => {
  expect(verifyReceipt(given, serviceDocument)).toMatchObject({
    ok: false,
    failures: [{ code: 'malformed-receipt', message: expect.stringMatching(message) }],
  });
});

/** For every failure code, inputs that give it: the Receipt, the document, and the place of the fault. */
const PRODUCED: Record<FailureCode, readonly (readonly [string, unknown, string, ...unknown[]])[]> = {
  'malformed-receipt': [
    ['an array', [], ''],
    ['null', null, ''],
    ['a number in text', '7', ''],
    ['no JSON', '{', ''],
    ['a duplicate member', allow.signed.text.replace('{', '{"decision":"ALLOW",'), ''],
    ['too much text', allow.signed.text + ' '.repeat(RECEIPT_MAX_CHARS), ''],
  ],
  'missing-member': [
    ['no reason', await changed((d) => void delete d.reason), '/reason'],
    ['no protocol', await changed((d) => void delete (d as Partial<Draft>).protocol), '/protocol'],
    ['no P7', await changed((d) => void delete d.protocol.checks.P7), '/protocol/checks/P7'],
    ['no signature', shown((d) => void delete d.receipt), '/receipt'],
  ],
  'unknown-member': [
    ['a comment', await changed((d) => (d.comment = 1)), '/comment'],
    ['T4', await changed((d) => (d.trust.checks.T4 = true)), '/trust/checks/T4'],
    [
      'a constraint',
      await changed((d) => (d.authority.constraints['a/b~'] = 1)),
      '/authority/constraints/a~1b~0',
    ],
  ],
  'malformed-member': [
    ['another version', await changed((d) => (d.receipt_version = 'svc-receipt-v2')), '/receipt_version'],
    ['an id in lower case', await changed((d) => (d.receipt_id = 'drc_01k')), '/receipt_id'],
    ['another decision', await changed((d) => (d.decision = 'MAYBE')), '/decision'],
    ['no ReasonCode', await changed((d) => (d.reason = 'BECAUSE')), '/reason'],
    ['whole seconds', await changed((d) => (d.evaluated_at = '2026-11-20T08:00:00Z')), '/evaluated_at'],
    ['30 February', await changed((d) => (d.expires_at = '2027-02-30T08:00:00Z')), '/expires_at'],
    ['a did:key', await changed((d) => (d.relying_party = d.agent)), '/relying_party'],
    ['a short did:key', await changed((d) => (d.agent = 'did:key:z6Mk')), '/agent'],
    ['another grant id', await changed((d) => (d.grant_id = 'urn:uuid:1')), '/grant_id'],
    ['a bare hash', await changed((d) => (d.grant_hash = 'f'.repeat(64))), '/grant_hash'],
    ['a number for text', await changed((d) => (d.proof_hash = 7)), '/proof_hash'],
    ['an array for an object', await changed((d) => Object.assign(d, { trust: [] })), '/trust'],
    [
      'another verification',
      await changed((d) => (d.principal.verification = 'yes')),
      '/principal/verification',
    ],
    ['an outcome in text', await changed((d) => (d.protocol.checks.P1 = 'true')), '/protocol/checks/P1'],
    [
      'an amount in text',
      await changed((d) => (d.authority.constraints.maxAmount = '1')),
      '/authority/constraints/maxAmount',
    ],
    ['no resources', await changed((d) => (d.authority.resources = [])), '/authority/resources'],
    [
      'a file URL',
      await changed((d) => (d.evidence.status.credential_url = 'file:///x')),
      '/evidence/status/credential_url',
    ],
    [
      'an index of 00',
      await changed((d) => (d.evidence.status.status_list_index = '00')),
      '/evidence/status/status_list_index',
    ],
    ['another policy', await changed((d) => (d.trust.policy_version = 'v2')), '/trust/policy_version'],
    ['a JWS that is a number', shown((d) => (d.receipt = 7)), '/receipt'],
    [
      'a negative version',
      await resign(consumed.body, (d) => (d.evidence.consumption = { ...CONSUMPTION, version: -1 })),
      '/evidence/consumption/version',
    ],
    [
      'a total in text',
      await resign(consumed.body, (d) => (d.authority.constraints.maxTotal = '1')),
      '/authority/constraints/maxTotal',
    ],
    [
      'another period',
      await resign(consumed.body, (d) => (d.authority.constraints.period = 'year')),
      '/authority/constraints/period',
    ],
    [
      'half a period',
      await resign(consumed.body, (d) => void delete d.authority.constraints.period),
      '/authority/constraints',
    ],
    [
      'one method twice',
      await resign(api.body, (d) => (d.authority.constraints.methods = ['GET', 'GET'])),
      '/authority/constraints/methods',
    ],
  ],
  'malformed-jws': [
    ['empty text', shown((d) => (d.receipt = '')), '/receipt'],
    ['no parts', shown((d) => (d.receipt = 'x')), '/receipt'],
    ['padding', shown((d) => (d.receipt = `${d.receipt}=`)), '/receipt'],
    ['a fourth part', shown((d) => (d.receipt = `${d.receipt}.x`)), '/receipt'],
    ['a line break', shown((d) => (d.receipt = `${d.receipt}\n`)), '/receipt'],
  ],
  'wrong-header': [
    ['the typ of a Grant', await forge(bodyText, { ...HEADER, typ: 'vc+jwt' }), '/receipt'],
    ['the alg Ed25519', await forge(bodyText, { ...HEADER, alg: 'Ed25519' }), '/receipt'],
    ['the alg none', await forge(bodyText, { ...HEADER, alg: 'none' }), '/receipt'],
    ['one more member', await forge(bodyText, { ...HEADER, crit: [] }), '/receipt'],
    ['another order', await forge(bodyText, { typ: HEADER.typ, kid: HEADER.kid, alg: 'EdDSA' }), '/receipt'],
    ['no kid', await forge(bodyText, { alg: 'EdDSA', typ: HEADER.typ }), '/receipt'],
    [
      'a kid that is no string',
      await forge(bodyText, { alg: 'EdDSA', kid: [1], typ: HEADER.typ }),
      '/receipt',
    ],
  ],
  'payload-not-canonical': [
    ['white space', await forge(` ${bodyText}`, HEADER), '/receipt'],
    ['another escape', await forge(bodyText.replace('order', '\\u006frder'), HEADER), '/receipt'],
    [
      'another order',
      await forge(JSON.stringify({ ...allow.body, agent: allow.body.agent, aa: 1 }), HEADER),
      '/receipt',
    ],
    ['another number', await forge(bodyText.replace('50000', '5e4'), HEADER), '/receipt'],
    ['a duplicate', await forge(bodyText.replace('{', '{"agent":"x",'), HEADER), '/receipt'],
  ],
  'payload-mismatch': [
    ['another decision', shown((d) => (d.decision = 'DENY')), '/decision'],
    [
      'another amount',
      shown((d) => (d.authority.constraints.maxAmount = 1)),
      '/authority/constraints/maxAmount',
    ],
    ['one more member', shown((d) => (d.note = 1)), '/note'],
    ['one less member', shown((d) => void delete d.agent), '/agent'],
    ['another resource', shown((d) => (d.authority.resources = ['**'])), '/authority/resources'],
  ],
  'malformed-did-document': [
    ['no JSON', allow.signed.text, '', 'x'],
    ['null', allow.signed.text, '', null],
    ['an array in text', allow.signed.text, '', '[]'],
    ['a did:key', allow.signed.text, '', { ...serviceDocument, id: allow.body.agent }],
    ['duplicate members', allow.signed.text, '', '{"id":1,"id":1}'],
    ['too much text', allow.signed.text, '', ' '.repeat(1_048_577)],
  ],
  'wrong-service': [
    [
      'the document of another',
      allow.signed.text,
      '',
      documentOf('did:web:evil.example', { 'receipt-2': 1 }),
    ],
    ['another service than named', allow.signed.text, '', serviceDocument, 'did:web:other.example'],
    ['a path under the DID', await resign(allow.body, () => {}, signerOf(1, `${SERVICE}:x#receipt-2`)), ''],
  ],
  'unknown-key': [
    ['a key never published', await resign(allow.body, () => {}, signerOf(1, `${SERVICE}#receipt-9`)), ''],
    ['no methods', allow.signed.text, '', { id: SERVICE }],
  ],
  'wrong-key': [
    ['a status key', await forge(bodyText, { ...HEADER, kid: `${SERVICE}#status-1` }), ''],
    ['a number that begins with 0', await forge(bodyText, { ...HEADER, kid: `${SERVICE}#receipt-09` }), ''],
    ['a kid without a number', await forge(bodyText, { ...HEADER, kid: `${SERVICE}#receipt` }), ''],
    ['a key without assertionMethod', allow.signed.text, '', { ...serviceDocument, assertionMethod: [] }],
  ],
  'unusable-key': [
    ['another type', allow.signed.text, '', withMethod({ type: 'Ed25519VerificationKey2020' })],
    ['another controller', allow.signed.text, '', withMethod({ controller: 'did:web:evil.example' })],
    ['no key', allow.signed.text, '', withMethod({ publicKeyMultibase: 'z6Mk' })],
    ['a key of small order', allow.signed.text, '', withMethod({ publicKeyMultibase: SMALL_ORDER })],
    [
      'two keys with the same id',
      allow.signed.text,
      '',
      {
        ...serviceDocument,
        verificationMethod: [...serviceDocument.verificationMethod, ...serviceDocument.verificationMethod],
      },
    ],
  ],
  'wrong-signature': [
    ['another key of the service', await resign(allow.body, () => {}, signerOf(6, receiptSigner.kid)), ''],
    [
      'a signature of 3 bytes',
      shown((d) => (d.receipt = `${String(d.receipt).replace(/[^.]+$/, '')}AAAA`)),
      '',
    ],
  ],
  'wrong-time': [
    ['a later time', await changed((d) => (d.evaluated_at = '2026-11-20T08:00:00.124Z')), '/evaluated_at'],
    [
      'an id of after 9999',
      await changed((d) => (d.receipt_id = `drc_${'7'.padEnd(26, 'Z')}`)),
      '/evaluated_at',
    ],
  ],
  'wrong-outcome': [
    ['true after a failure', await changed((d) => (d.protocol.checks.P16 = false)), '/protocol/checks/P17'],
    [
      'skipped for nothing',
      await changed((d) => (d.protocol.checks.P12 = 'skipped')),
      '/protocol/checks/P12',
    ],
    [
      'skipped after a failure elsewhere',
      await changed((d) => (d.trust.checks.T1 = false)),
      '/trust/checks/T2',
    ],
    [
      'false after a failure',
      await changed((d) => Object.assign(d.protocol.checks, { P8: false, P9: false })),
      '/protocol/checks/P9',
    ],
  ],
  'wrong-decision': [
    ['ALLOW with a failure', await changed((d) => (d.trust.checks.T5 = false)), '/decision'],
    ['DENY with none', await changed((d) => (d.decision = 'DENY')), '/decision'],
  ],
  'wrong-reason': [
    ['a reason on ALLOW', await changed((d) => (d.reason = 'PROOF_REPLAYED')), '/reason'],
    ['none on DENY', await changed((d) => (d.decision = 'DENY')), '/reason'],
    [
      'the reason of a later check',
      await resign(unauthenticated.body, (d) => (d.reason = 'PROOF_REPLAYED')),
      '/reason',
    ],
    [
      'SERVICE_UNAVAILABLE although a check failed',
      await resign(unauthenticated.body, (d) => (d.reason = 'SERVICE_UNAVAILABLE')),
      '/reason',
    ],
    [
      'a failed check although the fact was unavailable',
      await resign(unavailable.body, (d) => (d.reason = 'AUTHORITY_REVOKED')),
      '/reason',
    ],
  ],
  'wrong-result': [
    [
      'the result of the protocol checks',
      await changed((d) => (d.protocol.result = 'FAIL')),
      '/protocol/result',
    ],
    ['the result of the trust checks', await changed((d) => (d.trust.result = 'FAIL')), '/trust/result'],
  ],
  'wrong-presence': [
    [
      'a consumption without a budget',
      await changed((d) => (d.evidence.consumption = CONSUMPTION)),
      '/evidence/consumption',
    ],
    [
      'a budget without a consumption',
      await resign(consumed.body, (d) => void delete d.evidence.consumption),
      '/evidence/consumption',
    ],
    [
      'a consumption on DENY',
      await resign(unavailable.body, (d) => (d.evidence.consumption = CONSUMPTION)),
      '/evidence/consumption',
    ],
    ['no principal', await changed((d) => void delete (d as Partial<Draft>).principal), '/principal'],
    ['no grant_id', await changed((d) => void delete d.grant_id), '/grant_id'],
    ['no expires_at', await changed((d) => void delete d.expires_at), '/expires_at'],
    ['no authority', await changed((d) => void delete (d as Partial<Draft>).authority), '/authority'],
    ['no agent', await changed((d) => void delete d.agent), '/agent'],
    ['no request_hash', await changed((d) => void delete d.request_hash), '/request_hash'],
    [
      'no document',
      await changed((d) => void delete (d.evidence as Partial<Draft['evidence']>).issuer_resolution),
      '/evidence/issuer_resolution',
    ],
    [
      'no list',
      await changed((d) => void delete (d.evidence as Partial<Draft['evidence']>).status),
      '/evidence/status',
    ],
    [
      'a principal too early',
      await resign(unauthenticated.body, (d) => Object.assign(d, { principal: allow.body.principal })),
      '/principal',
    ],
    [
      'an authority too early',
      await resign(unauthenticated.body, (d) => Object.assign(d, { authority: null })),
      '/authority',
    ],
    [
      'a list too early',
      await resign(unauthenticated.body, (d) =>
        Object.assign(d.evidence, { status: allow.body.evidence.status }),
      ),
      '/evidence/status',
    ],
    [
      'a document too early',
      await resign(unauthenticated.body, (d) =>
        Object.assign(d.evidence, { issuer_resolution: allow.body.evidence.issuer_resolution }),
      ),
      '/evidence/issuer_resolution',
    ],
    [
      'a list that was unavailable',
      await resign(unavailable.body, (d) =>
        Object.assign(d.evidence, { status: allow.body.evidence.status }),
      ),
      '/evidence/status',
    ],
  ],
  contradiction: [
    [
      'a budget under v1',
      await resign(consumed.body, (d) => Object.assign(d.protocol, profileOf(allow.body))),
      '/authority/constraints',
    ],
    [
      'the budget of another Capability',
      await resign(consumed.body, (d) => (d.authority.constraints.maxUses = 4)),
      '/evidence/consumption/key',
    ],
    ['no authority on ALLOW', await changed((d) => Object.assign(d, { authority: null })), '/authority'],
    [
      'authority on DENY',
      await resign(unavailable.body, (d) => Object.assign(d, { authority: allow.body.authority })),
      '/authority',
    ],
    [
      'verification against T2',
      await changed((d) => (d.principal.verification = 'unverified')),
      '/principal/verification',
    ],
    [
      'the document of another',
      await changed((d) => (d.evidence.issuer_resolution.did = 'did:web:x.example')),
      '/evidence/issuer_resolution/did',
    ],
    [
      'P5 after the end',
      await changed((d) => (d.expires_at = '2026-11-20T08:00:00Z')),
      '/protocol/checks/P5',
    ],
    [
      'a document from after the evaluation',
      await changed((d) => (d.evidence.issuer_resolution.resolved_at = '2026-11-20T08:00:00.124Z')),
      '/evidence/issuer_resolution/resolved_at',
    ],
    [
      'a list that was checked after the evaluation',
      await changed((d) => (d.evidence.status.checked_at = '2026-11-20T08:00:00.124Z')),
      '/evidence/status/checked_at',
    ],
    [
      'a list that was checked years after the evaluation',
      await changed((d) => (d.evidence.status.checked_at = '2036-11-20T08:00:00.000Z')),
      '/evidence/status/checked_at',
    ],
  ],
  'key-not-in-force': [
    [
      'a Receipt from before its key',
      allow.signed.text,
      '/evaluated_at',
      withMethod({ 'svc:validFrom': '2026-11-20T08:00:01Z' }),
    ],
    [
      'a Receipt from after the end of its key',
      allow.signed.text,
      '/evaluated_at',
      withMethod({ 'svc:validUntil': '2026-11-20T08:00:00Z' }),
    ],
    [
      'a Receipt of a compromised key',
      allow.signed.text,
      '/evaluated_at',
      withMethod({ revoked: '2030-01-01T00:00:00Z' }),
    ],
  ],
  'stale-evidence': [
    [
      'an old document',
      await changed((d) => (d.evidence.issuer_resolution.resolved_at = '2026-11-20T07:00:00.122Z')),
      '/evidence/issuer_resolution/resolved_at',
    ],
    [
      'an old list',
      await changed((d) => (d.evidence.status.checked_at = '2026-11-20T07:59:30.122Z')),
      '/evidence/status/checked_at',
    ],
  ],
  'unknown-profile': [
    ['v9', await changed((d) => (d.protocol.profile = 'svc-base-v9')), '/protocol/profile'],
    [
      'v9 with a consumption',
      await resign(consumed.body, (d) => (d.protocol.profile = 'svc-base-v9')),
      '/protocol/profile',
    ],
    [
      'v9 on DENY',
      await resign(unavailable.body, (d) => (d.protocol.profile = 'svc-base-v9')),
      '/protocol/profile',
    ],
  ],
  'wrong-profile-hash': [
    [
      'another hash',
      await changed((d) => (d.protocol.profile_hash = d.grant_hash)),
      '/protocol/profile_hash',
    ],
  ],
  'unknown-trust-config': [
    [
      'another version',
      await changed((d) => (d.evidence.trust_config_version = '__proto__')),
      '/evidence/trust_config_version',
    ],
  ],
  'wrong-trust-config-hash': [
    [
      'another hash',
      await changed((d) => (d.evidence.trust_config_hash = d.grant_hash)),
      '/evidence/trust_config_hash',
    ],
  ],
};

/** Faults that cause others: a wrong outcome makes other outcomes and the decision wrong. */
const WITH_CONSEQUENCES = new Set([
  ...['another order', 'true after a failure', 'skipped for nothing', 'false after a failure'],
  ...['skipped after a failure elsewhere', 'ALLOW with a failure', 'DENY with none', 'none on DENY'],
  'a principal too early',
]);

describe.each(Object.entries(PRODUCED))('the failure code %s', (code, cases) => {
  it.each(cases)('is reported for %s, and nothing is reported that does not follow from it', (...one) => {
    const [title, receipt, path, document = serviceDocument, serviceDid] = one;
    const named = path === '' && code !== 'malformed-receipt' ? code : `${code} ${path}`;
    const codes = codesOf(receipt, document, serviceDid as string | undefined);
    expect(codes).toContain(named);
    if (!WITH_CONSEQUENCES.has(String(title))) expect(codes).toEqual([named]);
  });
});

const olderDocument = documentOf(SERVICE, { 'receipt-1': 7, 'status-1': 2 });
/** Faults other than an unknown key, and faults of the kid. */
const INVALID_BESIDE: readonly (readonly [string, unknown, unknown?])[] = [
  ['what is shown is not what was named as signed', shown((d) => (d.agent = 'x'))],
  ['it contradicts itself', await changed((d) => (d.trust.checks.T5 = false))],
  ['it lacks a member', await changed((d) => void delete d.grant_id)],
  ['the document is of another service', allow.signed.text, { ...olderDocument, id: 'did:web:evil.example' }],
  ['the key is for something else', await forge(bodyText, { ...HEADER, kid: `${SERVICE}#status-9` })],
  ['the kid has another form', await forge(bodyText, { ...HEADER, kid: `${SERVICE}#receipt-09` })],
  ['the key is there, and not asserted', allow.signed.text, { ...serviceDocument, assertionMethod: [] }],
  [
    'the key is there, and did not sign',
    await resign(allow.body, () => {}, signerOf(6, receiptSigner.kid)),
    serviceDocument,
  ],
];

describe('the verdict on a Receipt whose key is missing in the DID document', () => {
  const verdictFor = (receipt: unknown, document: unknown = olderDocument) =>
    verdictOf(failuresOf(receipt, document));

  it('is undecided if nothing else is wrong, because the document may be older than the key', async () => {
    expect(verdictFor(allow.signed.text)).toBe('undecided');
    expect(verdictFor(await resign(allow.body, () => {}, signerOf(1, `${SERVICE}#receipt-9`)))).toBe(
      'undecided',
    );
  });

  it.each(INVALID_BESIDE)('is invalid if %s', (_, receipt, document) => {
    expect(verdictFor(receipt, document)).toBe('invalid');
  });
});

const INCONSISTENT = [
  ...(['wrong-time', 'wrong-outcome', 'wrong-decision', 'wrong-reason', 'wrong-result'] as const),
  ...([
    'wrong-presence',
    'contradiction',
    'stale-evidence',
    'unknown-profile',
    'wrong-profile-hash',
  ] as const),
  ...(['unknown-trust-config', 'wrong-trust-config-hash'] as const),
];

describe('a malformed member does not hide the failure of a rule that does not read it', () => {
  const cases = INCONSISTENT.flatMap((code) =>
    PRODUCED[code].map(([title, receipt, path]) => [code, title, receipt, path] as const),
  );
  it.each(cases)('%s: %s', async (code, _title, given, path) => {
    const { receipt: _, ...body } = JSON.parse(String(given));
    const receipt = await resign(body, (d) => (d.grant_hash = 'x'));
    expect(codesOf(receipt)).toEqual(
      expect.arrayContaining(['malformed-member /grant_hash', `${code} ${path}`]),
    );
  });
});

describe('verifyReceipt', () => {
  it('reports all failures, not only the first', async () => {
    const receipt = await resign(
      allow.body,
      (d) => {
        d.comment = 'x';
        d.grant_hash = 'x';
        d.trust.result = 'FAIL';
        delete d.agent;
      },
      signerOf(6, receiptSigner.kid),
    );
    expect(codesOf(receipt).sort()).toEqual([
      'malformed-member /grant_hash',
      'unknown-member /comment',
      'wrong-presence /agent',
      'wrong-result /trust/result',
      'wrong-signature',
    ]);
  });

  it('names the time in the id if evaluated_at differs from it, and says that a time after 9999 cannot be written', async () => {
    const messageOf = async (ms: number) => {
      const id = `drc_${encodeUlid(ms, new Uint8Array(10))}`;
      const receipt = await changed((d) => (d.receipt_id = id));
      return failuresOf(receipt).map(({ message }) => message);
    };
    const message = 'evaluated_at must be the time in receipt_id, ';
    const last = Date.parse('9999-12-31T23:59:59.999Z');
    expect(await messageOf(last)).toEqual([`${message}9999-12-31T23:59:59.999Z`]);
    expect(await messageOf(last + 1)).toEqual([`${message}none that can be written`]);
  });

  it('says for a changed member what was signed and what is shown, and calls an unknown member unknown', async () => {
    const messageOf = (receipt: unknown) => failuresOf(receipt)[0]?.message;
    expect(messageOf(shown((d) => (d.decision = 'DENY')))).toBe(
      '/decision must be "ALLOW" as signed, not "DENY"',
    );
    expect(messageOf(shown((d) => (d.note = 1)))).toBe('/note must be absent as signed, not 1');
    expect(messageOf(shown((d) => void delete d.reason))).toBe('/reason must be null as signed, not absent');
    expect(messageOf(await changed((d) => (d.note = 1)))).toBe('/note is not a member of a Receipt');
  });

  it('reports malformed members of an object even if its JWS is malformed', () => {
    const broken = shown((d) => Object.assign(d, { receipt: 'x', grant_hash: 'x' }));
    expect(codesOf(broken)).toEqual(['malformed-jws /receipt', 'malformed-member /grant_hash']);
  });

  it('reports only payload-not-canonical if the payload of the JWS is another JSON text of the same members', async () => {
    const payload = bodyText.replace('50000', '5e4');
    const { receipt } = (await forge(payload, HEADER)) as { receipt: string };
    const text = spliceReceipt(payload, receipt);
    expect(codesOf(text)).toEqual(['payload-not-canonical /receipt']);
  });

  it('reports payload-mismatch first for a changed Receipt, and not the failures that follow from the change', () => {
    const tampered = shown((d) => {
      d.decision = 'DENY';
      d.protocol.checks.P5 = false;
    });
    expect(codesOf(tampered)).toEqual(['payload-mismatch /decision', 'payload-mismatch /protocol/checks/P5']);
    const other = documentOf('did:web:evil.example', { 'receipt-2': 1 });
    expect(codesOf(tampered, other)[0]).toBe('payload-mismatch /decision');
  });

  it('names the check by which evidence is missing, or is there too early', async () => {
    const { issuer_resolution, status } = allow.body.evidence;
    const messageOf = (receipt: unknown) => failuresOf(receipt).map(({ message }) => message);
    for (const [member, check] of Object.entries({ issuer_resolution: 'P2', status: 'P6' })) {
      const path = `/evidence/${member}`;
      expect(await changed((d) => void delete d.evidence[member]).then(messageOf)).toEqual([
        `${path} is missing, although ${check} passed`,
      ]);
      const early = { [member]: { issuer_resolution, status }[member] };
      const receipt = await resign(unauthenticated.body, (d) => Object.assign(d.evidence, early));
      expect(messageOf(receipt)).toEqual([`${path} must not be there: ${check} did not get that far`]);
    }
  });

  it('accepts evidence from the instant of the evaluation, and evidence of exactly the maximum age', async () => {
    for (const [resolvedAt, checkedAt] of [
      ['2026-11-20T08:00:00.123Z', '2026-11-20T08:00:00.123Z'],
      ['2026-11-20T07:00:00.123Z', '2026-11-20T07:59:30.123Z'],
    ]) {
      const receipt = await changed((d) => {
        d.evidence.issuer_resolution.resolved_at = resolvedAt;
        d.evidence.status.checked_at = checkedAt;
      });
      expect(failuresOf(receipt)).toEqual([]);
    }
  });

  it('names only possible reasons as the right reason', async () => {
    const reasonOf = (receipt: unknown) =>
      failuresOf(receipt).find(({ code }) => code === 'wrong-reason')?.message;
    expect(await changed((d) => (d.decision = 'DENY')).then(reasonOf)).toBe(
      'reason must be a reason code on DENY, not null',
    );
    const wrong = await resign(unauthenticated.body, (d) => (d.reason = 'PROOF_REPLAYED'));
    expect(reasonOf(wrong)).toBe('reason must be ISSUER_UNKNOWN by the checks, not PROOF_REPLAYED');
  });

  it('says so if a Receipt was given as the DID document', () => {
    const [first] = failuresOf(allow.signed.text, allow.signed.text);
    expect(first).toMatchObject({ code: 'malformed-did-document' });
    expect(first?.message).toMatch(/^this is a Receipt; the DID document is what/);
  });

  it('accepts a Receipt with its members in another order and with other white space', () => {
    const turned = Object.fromEntries(Object.entries(JSON.parse(allow.signed.text)).reverse());
    for (const receipt of [turned, JSON.stringify(turned, null, 2)]) expect(failuresOf(receipt)).toEqual([]);
  });

  it('accepts a text of exactly RECEIPT_MAX_CHARS characters', () => {
    expect(failuresOf(allow.signed.text.padEnd(RECEIPT_MAX_CHARS))).toEqual([]);
  });

  it('accepts a Receipt signed by an older key that is still published', async () => {
    const old = await resign(allow.body, () => {}, signerOf(6, `${SERVICE}#receipt-1`));
    expect(failuresOf(old)).toEqual([]);
  });

  it('accepts characters beyond ASCII in an authority', async () => {
    const receipt = await changed((d) => (d.authority.resources = ['ordér/“**”/\u{1f600}']));
    expect(failuresOf(receipt)).toEqual([]);
    expect(failuresOf(JSON.parse(receipt))).toEqual([]);
    expect(failuresOf(receipt.replace('ordér', 'ordÃ©r'))).not.toEqual([]);
  });

  it('refuses an object whose toJSON gives other JSON than its members', () => {
    const odd = shown((d) => Object.defineProperty(d.principal, 'toJSON', { value: () => null }));
    expect(failuresOf(odd)).toEqual([expect.objectContaining({ code: 'malformed-receipt', path: '' })]);
  });

  it('returns the signed members; later changes of the given object do not alter them', () => {
    const handed = JSON.parse(allow.signed.text);
    const verified = verifyReceipt(handed, serviceDocument);
    handed.authority.constraints.maxAmount = 1;
    expect(verified.ok && verified.receipt.authority?.constraints.maxAmount).toBe(50_000);
  });

  it('refuses the other types of JWS (Grant, checkpoint, Proof) in place of a Receipt', async () => {
    for (const typ of ['vc+jwt', 'svc-checkpoint+jwt', 'svc-proof+jwt']) {
      const receipt = await signCompactJws(receiptSigner, { typ }, bodyText);
      expect(codesOf({ ...allow.body, receipt })).toEqual(['wrong-header /receipt']);
    }
  });

  it('refuses the answer to a dry run, even if it is signed by the Receipt key', async () => {
    const { protocol, trust, evaluated_at, relying_party, grant_id, agent } = allow.body;
    const dryRun = {
      dry_run: 'nothing was decided',
      ...{ would: 'allow', reason: null, remedy: null, evaluated_at, relying_party },
      ...{ principal: allow.body.principal?.id ?? null, grant_id, agent },
      checks: { ...protocol.checks, ...trust.checks },
      ...{ failed: [], closest_capability: null },
    };
    const signed = await signCompactJws(receiptSigner, { typ: RECEIPT_TYP }, jcs(dryRun as JsonObject));
    for (const given of [
      dryRun,
      JSON.stringify(dryRun),
      { ...dryRun, receipt: signed },
      { ...allow.body, receipt: signed },
    ])
      expect(verifyReceipt(given, serviceDocument).ok).toBe(false);
  });

  it('returns failures and does not throw, whatever it is given', () => {
    const cyclic: Record<string, unknown> = { receipt: allow.signed.jws };
    cyclic.self = cyclic;
    const deep = '['.repeat(20_000);
    const payload = Buffer.from(`{"a":${deep}${']'.repeat(20_000)}}`).toString('base64url');
    const odd = [
      undefined,
      7,
      () => 1,
      Symbol('x'),
      1n,
      new Map(),
      cyclic,
      { receipt: 1n },
      deep,
      `${payload}`,
    ];
    for (const receipt of [...odd, { receipt: `e30.${payload}.e30` }])
      for (const document of [serviceDocument, ...odd])
        expect(verifyReceipt(receipt, document, { crypto: nativeCrypto })).toEqual({
          ok: false,
          failures: expect.arrayContaining([expect.objectContaining({ code: expect.any(String) })]),
        });
  });
});

describe('parseReceipt', () => {
  it('returns the Receipt without checking its signature', async () => {
    const unsigned = await resign(allow.body, () => {}, signerOf(6, receiptSigner.kid));
    expect(parseReceipt(unsigned)).toEqual({ ok: true, receipt: JSON.parse(unsigned) });
  });

  it('reports failures of form and content', async () => {
    const parsed = parseReceipt(await changed((d) => (d.trust.result = 'FAIL')));
    expect(!parsed.ok && parsed.failures.map(({ code }) => code)).toEqual(['wrong-result']);
    expect(parseReceipt('x').ok).toBe(false);
  });

  it('refuses a Receipt whose members differ from its JWS, and one without a well-formed JWS', () => {
    for (const [receipt, code] of [
      [shown((d) => (d.decision = 'DENY')), 'payload-mismatch'],
      [shown((d) => (d.receipt = 'x')), 'malformed-jws'],
      [shown((d) => void delete d.receipt), 'missing-member'],
    ])
      expect(parseReceipt(receipt)).toMatchObject({ ok: false, failures: [{ code }] });
  });
});
