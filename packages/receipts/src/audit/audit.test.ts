import { nativeCrypto } from '@svc/protocol/native';
import { attestTo, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildStatusList,
  buildWorld,
  type Draft,
  documentOf,
  PRINCIPAL,
  PURCHASE,
  resign,
  SERVICE,
  type Setting,
  serviceDocument,
  signerOf,
  statusSigner,
  type World,
} from '@svc/testkit/receipts/world';
import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryWorld } from '../../test/arbitrary-world.ts';
import { type AuditInput, audit } from '../audit.ts';

const inputOf = (world: World, changes: Partial<AuditInput> = {}): AuditInput => ({
  receipt: world.signed.text,
  serviceDidDocument: serviceDocument,
  grant: world.grant,
  proof: world.proof,
  action: world.action,
  relyingParty: { proofWindowSeconds: 60 },
  evidence: world.evidence,
  crypto: nativeCrypto,
  ...changes,
});

const allow = await buildWorld();
const deny = await buildWorld({ revoked: true });
const pathsOf = (result: ReturnType<typeof audit>) => result.differences.map(({ path }) => path);
const codesOf = (result: ReturnType<typeof audit>) => result.failures.map(({ code }) => code);

describe('audit', () => {
  it.each([
    ['an ALLOW', allow],
    ['a DENY', deny],
  ])('gives the body of the Receipt for %s, and lists what it had to assume', (_, world) => {
    const result = audit(inputOf(world));
    expect(result).toMatchObject({ ok: true, undecided: false, failures: [], differences: [] });
    expect(result.receipt?.decision).toBe(world.body.decision);
    expect(result.assumed.map(({ path }) => path)).toEqual([
      ...[
        '/trust/checks/T1',
        '/trust/checks/T2',
        '/trust/checks/T3',
        '/protocol/checks/P2',
        '/protocol/checks/P6',
      ],
      ...(world === allow ? ['/trust/checks/T5'] : []),
      ...['/evaluated_at', '/relying_party', '/evidence/issuer_resolution', '/evidence/status'],
    ]);
  });

  it("takes nothing but the proof window of the relying party's record: the Receipt says whose it is, and its profile", () => {
    const record = { did: 'did:web:other.example', profile: 'svc-base-v2', proofWindowSeconds: 60 };
    expect(audit(inputOf(allow, { relyingParty: record }))).toMatchObject({ ok: true, differences: [] });
  });

  it('agrees with every decision of the engine if it assumes what the Receipt states', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryWorld, async (pending) => {
        const result = audit(inputOf(await pending));
        expect(result.differences).toEqual([]);
        expect(result).toMatchObject({ ok: true, undecided: false, failures: [] });
      }),
      { numRuns: sampled({ quick: 40, deep: 500 }) },
    );
  });

  it('accepts a Receipt whose key has leaked with its inclusion proof and attestation, and refuses it without them', async () => {
    const day = await closeDayOf(allow);
    const attestation = await attestTo({ id: allow.body.receipt_id, jws: allow.signed.jws }, day);
    const verificationMethod = serviceDocument.verificationMethod.map((method) =>
      method.id.endsWith('#receipt-2') ? { ...method, revoked: '2026-12-01T00:00:00Z' } : method,
    );
    const leaked = { serviceDidDocument: { ...serviceDocument, verificationMethod } };
    const { inclusion, jws: checkpoint } = day;
    const proven = audit(inputOf(allow, { ...leaked, inclusion, checkpoint, attestation }));
    const attested = { kid: `${SERVICE}#status-1`, receipt_id: allow.body.receipt_id };
    expect(proven).toMatchObject({ ok: true, attestation: attested });
    expect({ ...proven, attestation: null }).toEqual(audit(inputOf(allow)));
    const other = await attestTo({ id: allow.body.receipt_id, jws: deny.signed.jws }, day);
    for (const less of [{}, { attestation }, { inclusion }, { inclusion, attestation: other }])
      expect(codesOf(audit(inputOf(allow, { ...leaked, ...less })))).toEqual(['key-not-in-force']);
  });

  it('gives the same result with evidence from a function or an object, and with portable crypto', () => {
    const expected = audit(inputOf(allow));
    const { crypto: _, ...input } = inputOf(allow);
    expect(audit({ ...input, evidence: (hash) => allow.evidence.get(hash) })).toEqual(expected);
    expect(audit({ ...input, evidence: Object.fromEntries(allow.evidence) })).toEqual(expected);
  });

  it('uses the facts that the auditor supplies instead of assuming them', () => {
    const facts = { spent: { answer: 'found', value: true } } as const;
    const result = audit(inputOf(allow, { facts }));
    expect(result.assumed.map(({ path }) => path)).not.toContain('/trust/checks/T5');
    expect(result.differences).toContainEqual({ path: '/reason', expected: 'PROOF_REPLAYED', got: null });
  });

  it('verifies the Receipt first, and compares nothing if this fails', () => {
    const result = audit(inputOf(allow, { receipt: deny.signed.text.replace('"DENY"', '"ALLOW"') }));
    expect(result).toMatchObject({ ok: false, undecided: false, receipt: null, differences: [] });
    expect(codesOf(result)).toContain('payload-mismatch');
  });
});

describe('audit reports a difference for', () => {
  /** Receipts that the service signed and that are consistent, but differ from the engine's result. */
  const lies: readonly (readonly [string, World, (draft: Draft) => void, string])[] = [
    ['another request hash', allow, (d) => (d.request_hash = d.grant_hash), '/request_hash'],
    ['another agent', allow, (d) => (d.agent = `did:key:z6Mk${'h'.repeat(44)}`), '/agent'],
    ['another Grant id', allow, (d) => (d.grant_id = String(d.grant_id).replace(/.$/, '0')), '/grant_id'],
    ['another expiry', allow, (d) => (d.expires_at = '2027-01-01T00:00:00Z'), '/expires_at'],
    [
      'more authority',
      allow,
      (d) => (d.authority.constraints.maxAmount = 1_000_000),
      '/authority/constraints/maxAmount',
    ],
    ['other resources', allow, (d) => (d.authority.resources = ['**']), '/authority/resources'],
    [
      'another relying party',
      allow,
      (d) => (d.relying_party = 'did:web:other.example'),
      '/protocol/checks/P12',
    ],
    [
      'another index',
      allow,
      (d) => (d.evidence.status.status_list_index = '5'),
      '/evidence/status/status_list_index',
    ],
    [
      'another Principal',
      allow,
      (d) => {
        d.principal.id = 'did:web:other.example';
        d.evidence.issuer_resolution.did = 'did:web:other.example';
      },
      '/principal/id',
    ],
    [
      'an ALLOW of a revoked Grant',
      deny,
      (d) => {
        Object.assign(d, { decision: 'ALLOW', reason: null, authority: allow.body.authority });
        Object.assign(d.protocol, { result: 'PASS', checks: allow.body.protocol.checks });
        Object.assign(d.trust, { result: 'PASS', checks: allow.body.trust.checks });
      },
      '/protocol/checks/P6',
    ],
    [
      'a DENY for a signature that verifies',
      allow,
      (d) => {
        const failed = Object.fromEntries(
          Object.keys(d.protocol.checks).map((id) => [
            id,
            ['P1', 'P2', 'P8', 'P9', 'P12', 'P13', 'P14', 'P15'].includes(id) || 'skipped',
          ]),
        );
        Object.assign(d.protocol, { result: 'FAIL', checks: { ...failed, P3: false } });
        Object.assign(d.trust, { result: 'FAIL', checks: { ...d.trust.checks, T5: 'skipped' } });
        Object.assign(d, { decision: 'DENY', reason: 'GRANT_SIGNATURE_INVALID' });
        for (const name of ['principal', 'grant_id', 'expires_at', 'authority']) delete d[name];
        delete (d.evidence as Partial<Draft['evidence']>).status;
      },
      '/protocol/checks/P3',
    ],
  ];

  it.each(lies)('%s in a signed Receipt', async (_, world, change, path) => {
    const result = audit(inputOf(world, { receipt: await resign(world.body, change) }));
    expect(result).toMatchObject({ ok: false, undecided: false });
    expect(pathsOf(result)).toContain(path);
  });

  it('a narrower proof window than the decision used', () => {
    const result = audit(inputOf(allow, { relyingParty: { proofWindowSeconds: 2 } }));
    expect(result.ok).toBe(false);
    expect(pathsOf(result)).toContain('/protocol/checks/P13');
  });

  it('a key that the DID document does not have', async () => {
    const principalDocument = documentOf(PRINCIPAL, { 'key-2': 3 });
    const honest = await buildWorld({ principalDocument });
    expect(honest.body.reason).toBe('ISSUER_KEY_NOT_FOUND');
    expect(audit(inputOf(honest)).ok).toBe(true);
    const hash = honest.body.evidence.issuer_resolution?.did_document_hash;
    const receipt = await resign(allow.body, (d) => (d.evidence.issuer_resolution.did_document_hash = hash));
    const evidence = new Map([...allow.evidence, ...honest.evidence]);
    expect(pathsOf(audit(inputOf(allow, { receipt, evidence })))).toContain('/protocol/checks/P2');
  });
});

describe('audit reports one failure, and no differences that follow from it,', () => {
  const notOfThis = (what: string) => `the ${what} given is not the one of this Receipt: `;
  it.each<readonly [string, string, Partial<AuditInput>, string, string]>([
    ['another Grant', 'other-grant', { grant: deny.proof }, '/grant_hash', 'Grant'],
    ['another Grant without evidence', 'other-grant', { grant: 'x', evidence: {} }, '/grant_hash', 'Grant'],
    ['another Proof', 'other-proof', { proof: deny.grant }, '/proof_hash', 'Proof'],
    ['another Action', 'other-action', { action: { ...PURCHASE, amount: 1 } }, '/request_hash', 'Action'],
    ['no Action', 'other-action', { action: {} }, '/request_hash', 'Action'],
  ])('when it is given %s', (_, code, changes, path, what) => {
    const result = audit(inputOf(allow, changes));
    expect(result).toMatchObject({ ok: false, undecided: false, differences: [], assumed: [] });
    expect(result.failures).toEqual([
      { code, path, message: expect.stringContaining(notOfThis(what)) as string },
    ]);
  });

  it('each for a Grant and a Proof that the Receipt does not name', async () => {
    const receipt = await resign(allow.body, (d) => {
      [d.grant_hash, d.proof_hash] = [d.proof_hash, d.grant_hash];
    });
    expect(codesOf(audit(inputOf(allow, { receipt })))).toEqual(['other-grant', 'other-proof']);
  });

  it('when the Action is not the one that the Receipt denied with PROOF_ACTION_MISMATCH', async () => {
    const world = await buildWorld({ proof: { action: { ...PURCHASE, amount: 1 } } });
    expect(world.body.reason).toBe('PROOF_ACTION_MISMATCH');
    expect(audit(inputOf(world)).ok).toBe(true);
    const result = audit(inputOf(world, { action: { ...PURCHASE, amount: 1 } }));
    expect(codesOf(result)).toEqual(['other-action']);
  });
});

describe('audit is undecided', () => {
  it.each([
    ['is missing', undefined],
    ['was given as another text', 'x'],
  ])('when evidence %s, and names each piece', (problem, text) => {
    const result = audit(inputOf(allow, { evidence: () => text }));
    expect(result).toMatchObject({ ok: false, undecided: true, differences: [] });
    expect(result.failures.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'missing-evidence /evidence/issuer_resolution/did_document_hash',
      'missing-evidence /evidence/status/credential_hash',
    ]);
    for (const { message } of result.failures) expect(message).toContain(problem);
  });

  it.each<readonly [string, unknown, string]>([
    ['no setting of the relying party', undefined, 'missing'],
    ["the relying party's record, whose member is named otherwise", { proof_window_seconds: 60 }, 'missing'],
    ['a proof window that no relying party can have', { proofWindowSeconds: 301 }, '301'],
    ['a proof window of nothing', { proofWindowSeconds: 0 }, '0'],
    ['a proof window in parts of a second', { proofWindowSeconds: 59.5 }, '59.5'],
    ['a proof window as text', { proofWindowSeconds: '60' }, '"60"'],
  ])('when it is given %s, and says which number it needs', (_, relyingParty, given) => {
    const result = audit(inputOf(allow, { relyingParty: relyingParty as AuditInput['relyingParty'] }));
    expect(result).toMatchObject({ ok: false, undecided: true, differences: [], assumed: [] });
    expect(result.failures).toEqual([
      {
        code: 'missing-proof-window',
        path: '/protocol/checks/P13',
        message: `relyingParty.proofWindowSeconds must be the proof window that the relying party had then, an integer from 1 to 300, not ${given}`,
      },
    ]);
  });

  it('when evidence is missing, and names the endpoint that has it', () => {
    const hash = allow.body.evidence.status?.credential_hash;
    const [, { message } = { message: '' }] = audit(inputOf(allow, { evidence: {} })).failures;
    expect(message).toBe(`the status list ${hash} is missing; the service has it at GET /evidence/${hash}`);
  });
});

describe('audit refuses a status list', () => {
  const withList = async (changes: Partial<Setting>) => {
    const world = await buildWorld(changes);
    return audit(inputOf(world));
  };

  it.each<readonly [string, Partial<Setting>, string]>([
    ['by another key', { listSigner: signerOf(6, statusSigner.kid) }, 'does not verify'],
    [
      'by a receipt key',
      { listSigner: signerOf(1, `${SERVICE}#receipt-2`) },
      'must be did:web:svc.example#status-<n>',
    ],
    ['by the Principal', { listSigner: signerOf(3, `${PRINCIPAL}#status-1`) }, 'not of the pinned service'],
    ['of another issuer', { listIssuer: PRINCIPAL }, 'must be issued by'],
    ['that had ended', { listValidUntil: '2026-11-20T07:59:55Z' }, 'it ended at'],
  ])('%s', async (_, changes, problem) => {
    const result = await withList(changes);
    expect(result).toMatchObject({ ok: false, undecided: false });
    expect(codesOf(result)).toEqual(['wrong-status-list']);
    expect(result.failures[0]?.message).toContain(problem);
  });

  it('as undecided, not as invalid, when its key is missing in the DID document', async () => {
    const listSigner = signerOf(6, `${SERVICE}#status-2`);
    const world = await buildWorld({ listSigner });
    const { status } = world.body.evidence;
    const result = audit(inputOf(world));
    expect(result).toMatchObject({ ok: false, undecided: true });
    expect(result.failures).toEqual([
      {
        code: 'unknown-key',
        path: '/evidence/status/credential_hash',
        message: expect.stringContaining('obtain it again'),
      },
    ]);
    // With other evidence missing at the same time.
    const evidence = new Map([...world.evidence].filter(([hash]) => hash === status?.credential_hash));
    const without = audit(inputOf(world, { evidence }));
    expect(without.undecided).toBe(true);
    expect(codesOf(without)).toEqual(['missing-evidence', 'unknown-key']);
  });

  it('even when other evidence is missing', async () => {
    const world = await buildWorld({ listSigner: signerOf(6, statusSigner.kid) });
    const hash = world.body.evidence.status?.credential_hash;
    const evidence = new Map([...world.evidence].filter(([one]) => one === hash));
    const result = audit(inputOf(world, { evidence }));
    expect(result.undecided).toBe(false);
    expect(codesOf(result)).toEqual(['missing-evidence', 'wrong-status-list']);
  });

  it('of another URL', async () => {
    const other = await buildStatusList({ listUrl: 'https://status.svc.example/other/1' });
    const hash = `sha256:${nativeCrypto.sha256Hex(other)}`;
    const receipt = await resign(allow.body, (d) => (d.evidence.status.credential_hash = hash));
    const result = audit(inputOf(allow, { receipt, evidence: new Map([...allow.evidence, [hash, other]]) }));
    expect(result.failures[0]?.message).toContain('must be the one at');
  });

  it('that is another token, or has no entry of the index', async () => {
    const hash = `sha256:${nativeCrypto.sha256Hex(allow.grant)}`;
    const grantAsList = await resign(allow.body, (d) => (d.evidence.status.credential_hash = hash));
    const evidence = new Map([...allow.evidence, [hash, allow.grant]]);
    expect(codesOf(audit(inputOf(allow, { receipt: grantAsList, evidence })))).toEqual(['wrong-status-list']);
    const farIndex = await resign(allow.body, (d) => (d.evidence.status.status_list_index = '131072'));
    expect(audit(inputOf(allow, { receipt: farIndex })).failures[0]?.message).toContain('entry 131072');
  });
});
