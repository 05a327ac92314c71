import { nativeCrypto } from '@svc/codec/native';
import { describe, expect, it } from 'vitest';
import { documentWith, KID, publicKeyOf, SERVICE, signerOf } from '../test/service.ts';
import { signAttestation, verifyAttestation } from './attestation.ts';
import { readServiceKeys, type ServiceKeys } from './service-keys.ts';

const at = (text: string) => Date.parse(text);
const FROM = '2026-11-20T08:00:00Z';
const UNTIL = '2026-11-20T09:00:00Z';

const keysWith = (time: object): ServiceKeys => {
  const read = readServiceKeys(documentWith({ 'status-1': { publicKey: publicKeyOf(2), time } }));
  if (!read.ok) throw new Error('no keys');
  return read.keys;
};

const checkAt = async (time: object, signedAtMs: number | null) => {
  const signature = await signerOf(2).sign(new TextEncoder().encode('a.b'));
  const signed = { kid: KID, signingInput: 'a.b', signature, signedAtMs };
  return keysWith(time).check('status', signed, nativeCrypto)?.code ?? 'counts';
};

describe('a signature', () => {
  const BOTH = { 'svc:validFrom': FROM, 'svc:validUntil': UNTIL };
  it.each<[string, object, string, string]>([
    ['counts at any time under a key without bounds', {}, '1999-01-01T00:00:00Z', 'counts'],
    ['counts from the beginning of its key on', BOTH, FROM, 'counts'],
    ['does not count before the beginning of its key', BOTH, '2026-11-20T07:59:59.999Z', 'key-not-in-force'],
    ['counts until the end of its key', BOTH, '2026-11-20T08:59:59.999Z', 'counts'],
    ['does not count from the end of its key on', BOTH, UNTIL, 'key-not-in-force'],
    ['does not count a year after the end of its key', BOTH, '2027-11-20T09:00:00Z', 'key-not-in-force'],
    ['counts before the end of a key without a beginning', { 'svc:validUntil': UNTIL }, FROM, 'counts'],
    [
      'counts before an end that has a fraction of a second',
      { 'svc:validUntil': '2026-11-20T09:00:00.001Z' },
      UNTIL,
      'counts',
    ],
    ['does not count under a compromised key', { ...BOTH, revoked: UNTIL }, FROM, 'key-not-in-force'],
    ['does not count if `revoked` is null', { revoked: null }, FROM, 'key-not-in-force'],
    [
      'does not count if a bound of its key cannot be read',
      { 'svc:validUntil': 'never' },
      FROM,
      'unusable-key',
    ],
    ['does not count if a bound of its key is not text', { 'svc:validFrom': 0 }, FROM, 'unusable-key'],
    [
      'does not count if a bound of its key has a UTC offset',
      { 'svc:validFrom': '2026-11-20T08:00:00+01:00' },
      FROM,
      'unusable-key',
    ],
  ])('%s', async (_, time, signedAt, code) => {
    expect(await checkAt(time, at(signedAt))).toBe(code);
  });

  it('counts without a date, even under a compromised key, and does not count with the date NaN', async () => {
    expect(await checkAt({ ...BOTH, revoked: UNTIL }, null)).toBe('counts');
    expect(await checkAt(BOTH, Number.NaN)).toBe('key-not-in-force');
  });
});

describe('an attestation', () => {
  const hash = `sha256:${'a'.repeat(64)}`;
  const said = {
    ...{ iss: SERVICE, receipt_id: 'drc_01M7W6C380WZDX49KZH7TES8VS', iat: at(FROM) / 1000 },
    ...{ receipt_hash: hash, checkpoint_hash: hash },
  };
  const verify = (jws: string, time: object = { 'svc:validFrom': FROM }) => {
    const read = verifyAttestation(jws, keysWith(time), nativeCrypto);
    return read.ok ? read.attestation : read.failures.map(({ code }) => code).join();
  };

  it('is read if a status key in force has signed it', async () => {
    expect(verify(await signAttestation(said, signerOf(2)))).toEqual({ ...said, kid: KID });
  });

  it.each<[string, () => Promise<string>, object, string]>([
    ['by another key', () => signAttestation(said, signerOf(9)), {}, 'wrong-signature'],
    ['by a compromised key', () => signAttestation(said, signerOf(2)), { revoked: FROM }, 'key-not-in-force'],
    [
      'by a key that has ended',
      () => signAttestation(said, signerOf(2)),
      { 'svc:validUntil': FROM },
      'key-not-in-force',
    ],
    ['by a Receipt key', () => signAttestation(said, signerOf(2, `${SERVICE}#receipt-1`)), {}, 'wrong-key'],
    [
      'with an unknown member',
      () => signAttestation({ ...said, more: 1 } as typeof said, signerOf(2)),
      {},
      'wrong-attestation',
    ],
    [
      'of another service',
      () => signAttestation({ ...said, iss: 'did:web:x.example' }, signerOf(2)),
      {},
      'wrong-attestation',
    ],
    ['that is not a JWS', () => Promise.resolve('x'), {}, 'wrong-attestation'],
  ])('%s is refused', async (_, sign, time, code) => {
    expect(verify(await sign(), time)).toBe(code);
  });
});
