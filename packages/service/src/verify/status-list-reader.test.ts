import { generateKeyPairSync, sign } from 'node:crypto';
import {
  type CryptoPort,
  type DidWeb,
  formatSeconds,
  jcs,
  type Sha256,
  sha256Of,
  signCompactJws,
} from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { buildStatusListCredential, createBitstring, encodeBitstring, setBit } from '@svc/status-list';
import { describe, expect, it, vi } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { parseKeySet } from '../service-keys/key-set.ts';
import { StatusListReader } from './status-list-reader.ts';

const DID = 'did:web:svc.example' as DidWeb;
const URL_1 = 'https://status.svc.example/acme.example/1';
const NOW_MS = Date.parse('2026-11-20T10:00:00Z');

const { privateKey } = generateKeyPairSync('ed25519');
const keys = parseKeySet(
  { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'status-1' }] },
  'status',
  DID,
);
const foreign = generateKeyPairSync('ed25519').privateKey;

interface Forged {
  readonly id?: string;
  readonly issuer?: string;
  readonly validUntil?: string;
  readonly signer?: Parameters<typeof signCompactJws>[0];
  readonly typ?: string;
}

const credentialOf = ({
  id = URL_1,
  issuer = DID,
  validUntil,
  signer = keys.signer,
  typ = 'vc+jwt',
}: Forged) => {
  const bits = createBitstring();
  setBit(bits, 7);
  const until = validUntil === undefined ? {} : { validUntil };
  const validFrom = formatSeconds(NOW_MS);
  const payload = buildStatusListCredential({
    id,
    issuer,
    validFrom,
    ...until,
    encodedList: encodeBitstring(bits),
  });
  return signCompactJws(signer, { typ }, jcs({ ...payload }));
};

const readerOf = async (forged: Forged = {}) => {
  const world = { nowMs: NOW_MS, reads: 0, checks: 0, credential: await credentialOf(forged), keys };
  const findStatusCredential = vi.fn(async () => {
    world.reads += 1;
    const { credential } = world;
    return { credential, credentialHash: sha256Of(nativeCrypto, credential) as Sha256 };
  });
  const verify: CryptoPort['verify'] = (...asked) => {
    world.checks += 1;
    return nativeCrypto.verify(...asked);
  };
  const deps = {
    store: { verify: { findStatusCredential } },
    clock: { nowMs: () => world.nowMs, resync: async () => {} },
    crypto: { ...nativeCrypto, verify },
    identity: {
      did: DID,
      get statusKeys() {
        return world.keys;
      },
    },
    log: { warn: () => {}, error: () => {} },
  } as unknown as ServiceDeps;
  return { world, findStatusCredential, reader: new StatusListReader(deps) };
};

describe('a status list', () => {
  it('gives revoked for a set bit and not revoked for a clear one, with the time of the check', async () => {
    const { reader } = await readerOf();
    expect(await reader.find(URL_1, 7)).toMatchObject({
      answer: 'found',
      value: { revoked: true, checkedAtMs: NOW_MS },
    });
    expect(await reader.find(URL_1, 8)).toMatchObject({ answer: 'found', value: { revoked: false } });
  });

  it.each<[string, Forged]>([
    [
      'is signed by another key under our kid',
      { signer: { kid: keys.signer.kid, sign: (bytes) => sign(null, bytes, foreign) } },
    ],
    [
      'is signed under a kid that is not ours',
      { signer: { kid: 'did:web:evil.example#status-1', sign: (bytes) => sign(null, bytes, foreign) } },
    ],
    ['is another list', { id: 'https://status.svc.example/acme.example/2' }],
    ['is of another issuer', { issuer: 'did:web:evil.example' }],
    ['has expired', { validUntil: formatSeconds(NOW_MS) }],
    ['is a token of another kind', { typ: 'svc-receipt+jwt' }],
  ])('that %s counts as unavailable', async (_, forged) => {
    const { reader } = await readerOf(forged);
    expect(await reader.find(URL_1, 8)).toEqual({ answer: 'unavailable' });
  });

  it('is unavailable for an index beyond its end', async () => {
    const { reader } = await readerOf();
    expect(await reader.find(URL_1, 131_072)).toEqual({ answer: 'unavailable' });
  });

  it('is read again after 25 s, and at once when it is forgotten', async () => {
    const { reader, world } = await readerOf();
    await reader.find(URL_1, 8);
    world.nowMs += 24_000;
    await reader.find(URL_1, 8);
    expect(world.reads).toBe(1);
    world.nowMs += 1_000;
    expect(await reader.find(URL_1, 8)).toMatchObject({ value: { checkedAtMs: world.nowMs } });
    reader.forget(URL_1);
    await reader.find(URL_1, 8);
    expect(world.reads).toBe(3);
  });

  it('is read again if the clock was set back', async () => {
    const { reader, world } = await readerOf();
    await reader.find(URL_1, 8);
    world.nowMs -= 1;
    expect(await reader.find(URL_1, 8)).toMatchObject({ value: { checkedAtMs: world.nowMs } });
    expect(world.reads).toBe(2);
  });

  it('is loaded once for all requests that need it at the same time', async () => {
    const { reader, world } = await readerOf();
    const found = await Promise.all(Array.from({ length: 64 }, (_, i) => reader.find(URL_1, i)));
    expect(found.filter((status) => status.answer === 'found' && status.value.revoked)).toHaveLength(1);
    expect(world).toMatchObject({ reads: 1, checks: 1 });
    world.nowMs += 25_000;
    await Promise.all(Array.from({ length: 64 }, (_, i) => reader.find(URL_1, i)));
    expect(world.reads).toBe(2);
  });

  it('that is forgotten while it is loaded is read again, and the failure of the first load does not drop the second', async () => {
    const { reader, world, findStatusCredential } = await readerOf();
    let fail = (_: Error) => {};
    findStatusCredential.mockImplementationOnce(
      () =>
        new Promise((_, reject) => {
          fail = reject;
        }),
    );
    const first = reader.find(URL_1, 7);
    reader.forget(URL_1);
    expect(await reader.find(URL_1, 7)).toMatchObject({ value: { revoked: true } });
    fail(new Error('storage'));
    await expect(first).rejects.toThrow('storage');
    await reader.find(URL_1, 7);
    expect(world.reads).toBe(1);
  });

  it('is read again after a failure', async () => {
    const { reader, findStatusCredential } = await readerOf();
    findStatusCredential.mockRejectedValueOnce(new Error('storage'));
    await expect(reader.find(URL_1, 7)).rejects.toThrow('storage');
    expect(await reader.find(URL_1, 7)).toMatchObject({ value: { revoked: true } });
  });

  it('that is read again is checked again only if its credential or the keys of the service have changed', async () => {
    const { reader, world } = await readerOf();
    const readAgain = () => {
      reader.forget(URL_1);
      return reader.find(URL_1, 7);
    };
    await readAgain();
    expect(await readAgain()).toMatchObject({ value: { revoked: true, checkedAtMs: NOW_MS } });
    expect(world).toMatchObject({ reads: 2, checks: 1 });
    world.credential = await credentialOf({ validUntil: formatSeconds(NOW_MS + 60_000) });
    expect(await readAgain()).toMatchObject({ answer: 'found' });
    expect(world.checks).toBe(2);
    world.nowMs += 60_000;
    expect(await readAgain()).toEqual({ answer: 'unavailable' });
    world.nowMs -= 60_000;
    world.keys = { ...keys, published: [] };
    expect(await readAgain()).toEqual({ answer: 'unavailable' });
  });
});
