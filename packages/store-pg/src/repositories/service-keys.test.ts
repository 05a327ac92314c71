import { generateKeyPairSync } from 'node:crypto';
import { type KeyPurpose, type KeySet, KeySetError, parseKeySet, rememberServiceKeys } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { describe, expect, it } from 'vitest';

const stores = withStores();

let domains = 0;
const newDid = () => `did:web:svc-${domains++}.example`;
const keySet = (did: string, purpose: KeyPurpose, ...numbers: number[]): KeySet => {
  const keys = numbers.map((n) => ({
    ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
    kid: `${purpose}-${n}`,
  }));
  return parseKeySet({ keys }, purpose, did);
};
const keysOf = (did: string) => ({
  receiptKeys: keySet(did, 'receipt', 2, 1),
  statusKeys: keySet(did, 'status', 1),
});

describe('signing keys of the service', () => {
  it('are accepted at every start, and new ones may be added', async () => {
    const did = newDid();
    const keys = keysOf(did);
    await rememberServiceKeys(stores.first, keys);
    await rememberServiceKeys(stores.second, keys);
    const { signer, published } = keySet(did, 'receipt', 3);
    const rotated = { signer, published: [...published, ...keys.receiptKeys.published] };
    await rememberServiceKeys(stores.first, { ...keys, receiptKeys: rotated });
  });

  it('are refused with a KeySetError if a kid named another key before, and none of them is stored', async () => {
    const did = newDid();
    const keys = keysOf(did);
    await rememberServiceKeys(stores.first, { ...keys, receiptKeys: keySet(did, 'receipt', 5) });
    const others = { receiptKeys: keys.receiptKeys, statusKeys: keySet(did, 'status', 1) };
    const refusal = rememberServiceKeys(stores.second, others);
    await expect(refusal).rejects.toBeInstanceOf(KeySetError);
    const [before] = keys.statusKeys.published;
    const x = Buffer.from(before?.publicKey ?? []).toString('base64url');
    await expect(refusal).rejects.toThrow(`${did}#status-1 was x ${x} and is now`);
    const remembered = await runSql(
      stores.url,
      `select kid from service_keys where kid like '${did}#%' order by kid`,
    );
    expect(remembered).toEqual([{ kid: `${did}#receipt-5` }, { kid: `${did}#status-1` }]);
  });

  it('of two nodes that start together with different keys, one is refused', async () => {
    for (let round = 0; round < 10; round++) {
      const did = newDid();
      const outcomes = await Promise.allSettled([
        rememberServiceKeys(stores.first, keysOf(did)),
        rememberServiceKeys(stores.second, keysOf(did)),
      ]);
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    }
  });

  it('are retired without their private key and compromised by a call, each once and permanently', async () => {
    const did = newDid();
    const { receiptKeys, statusKeys } = keysOf(did);
    const published = receiptKeys.published.map((key, i) => ({ ...key, canSign: i === 0 }));
    const keys = { receiptKeys: { ...receiptKeys, published }, statusKeys };
    const own = async () =>
      (await stores.second.serviceKeys.list()).filter(({ kid }) => kid.startsWith(`${did}#`));
    await rememberServiceKeys(stores.first, keys);
    const first = await own();
    expect(first.map(({ kid, retiredAtMs }) => [kid, retiredAtMs === null])).toEqual([
      [`${did}#receipt-1`, false],
      [`${did}#receipt-2`, true],
      [`${did}#status-1`, true],
    ]);
    await rememberServiceKeys(stores.second, keys);
    expect(await own()).toEqual(first);
    await stores.first.serviceKeys.end(`${did}#receipt-1`, 'compromised');
    const [after] = await own();
    expect(after).toMatchObject({ retiredAtMs: first[0]?.retiredAtMs, compromisedAtMs: expect.any(Number) });
    await stores.second.serviceKeys.end(`${did}#receipt-1`, 'compromised');
    expect((await own())[0]).toEqual(after);
  });

  it('cannot be changed or deleted', async () => {
    const did = newDid();
    await rememberServiceKeys(stores.first, keysOf(did));
    await stores.first.serviceKeys.end(`${did}#status-1`, 'compromised');
    for (const sql of [
      "update service_keys set public_key = 'z'",
      'delete from service_keys',
      'truncate service_keys cascade',
      "update service_key_ends set ended_at = now() + interval '1 year'",
      'delete from service_key_ends',
      'truncate service_key_ends',
    ])
      await expect(runSql(stores.url, sql)).rejects.toThrow(/append-only/);
  });
});
