import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { encodeMultikey, jcs, signCompactJws } from '@svc/codec';
import { describe, expect, it } from 'vitest';
import { RESTORE_TYP, verifyRestoreStatement } from './restore-statement.ts';

const DID = 'did:web:svc.example';
const KID = `${DID}#status-1`;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const raw = new Uint8Array(publicKey.export({ format: 'der', type: 'spki' }).subarray(-32));
const serviceDidDocument = {
  '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
  id: DID,
  verificationMethod: ['status-1', 'receipt-1'].map((name) => ({
    id: `${DID}#${name}`,
    type: 'Multikey',
    controller: DID,
    publicKeyMultibase: encodeMultikey(raw),
  })),
  assertionMethod: [KID, `${DID}#receipt-1`],
};

const payload = {
  iss: DID,
  epoch: 1,
  lost_from: '2026-11-20T09:59:58.000Z',
  lost_until: '2026-11-20T10:20:10.000Z',
  quarantined_until: '2026-11-20T10:25:23.000Z',
  reinstated_days: ['2026-11-19'],
  revoked_again: 3,
  previous: null,
  iat: Date.parse('2026-11-20T10:20:12Z') / 1_000,
};

const signed = (
  content: object = payload,
  { kid = KID, typ = RESTORE_TYP, key = privateKey as KeyObject } = {},
) => signCompactJws({ kid, sign: (bytes) => sign(null, bytes, key) }, { typ }, jcs({ ...content }));

describe('verifyRestoreStatement', () => {
  it('returns the statement that the service signed', async () => {
    const verified = verifyRestoreStatement({ statement: await signed(), serviceDidDocument });
    expect(verified).toEqual({ ok: true, statement: payload, kid: KID });
  });

  it('accepts a lost_until up to five minutes after iat', async () => {
    const ahead = await signed({ ...payload, lost_until: '2026-11-20T10:25:12.000Z' });
    expect(verifyRestoreStatement({ statement: ahead, serviceDidDocument }).ok).toBe(true);
  });

  it.each<[string, () => Promise<string>]>([
    ['is signed by another key', () => signed(payload, { key: generateKeyPairSync('ed25519').privateKey })],
    ['is signed under a receipt key', () => signed(payload, { kid: `${DID}#receipt-1` })],
    ['is a token of another kind', () => signed(payload, { typ: 'svc-checkpoint+jwt' })],
    ['is of another service', () => signed({ ...payload, iss: 'did:web:evil.example' })],
    ['has an unknown member', () => signed({ ...payload, note: 'x' })],
    [
      'ends more than five minutes after its date',
      () => signed({ ...payload, lost_until: '2026-11-20T10:25:12.001Z' }),
    ],
    [
      'reinstates a day that was not over at its date',
      () => signed({ ...payload, reinstated_days: ['2026-11-20'] }),
    ],
    ['has a lost_until that is not a time', () => signed({ ...payload, lost_until: 'soon' })],
    ['reinstates a day that does not exist', () => signed({ ...payload, reinstated_days: ['2026-11-31'] })],
    ['has a day that is not text', () => signed({ ...payload, reinstated_days: [1] })],
    ['is not a JWS', async () => 'x'],
  ])('refuses a statement that %s', async (_, make) => {
    expect(verifyRestoreStatement({ statement: await make(), serviceDidDocument }).ok).toBe(false);
  });
});
