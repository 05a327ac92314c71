/** After a rotation of the status key the new key signs every list, with unchanged contents (protocol §9). */
import { createHash, generateKeyPairSync } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  insertStatusList,
  type KeySet,
  parseKeySet,
  reSignStatusLists,
  type ServiceDeps,
  type StatusListRecord,
  type Store,
  setStatusBits,
} from '@svc/service';
import { decodeBitstring, getBit, parseStatusListCredential } from '@svc/status-list';
import { tamper } from '@svc/testkit';
import { withStores } from '@svc/testkit/store/open-store';
import { untilWaiting, withSession } from '@svc/testkit/store/session';
import { insertPrincipal } from '@svc/testkit/store/world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const DID = 'did:web:svc.example' as DidWeb;

const jwk = (kid: string) => {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { ...privateKey.export({ format: 'jwk' }), kid };
};
const [first, second, foreign] = [jwk('status-1'), jwk('status-2'), jwk('status-3')];
const keySet = (...keys: object[]): KeySet => parseKeySet({ keys }, 'status', DID);
const BEFORE = keySet(first, second);
const AFTER = keySet(second, first);

let logged: string[];
beforeEach(() => {
  logged = [];
});

const node = (store: Store, statusKeys: KeySet): ServiceDeps =>
  ({
    store,
    clock: { nowMs: () => Date.now(), resync: async () => {} },
    crypto: nativeCrypto,
    random: { bytes: (length: number) => new Uint8Array(length) },
    identity: { did: DID, statusBaseUrl: 'https://status.svc.example', statusKeys },
    log: { warn: (event: string) => logged.push(event), error: (event: string) => logged.push(event) },
  }) as unknown as ServiceDeps;

const never = new AbortController().signal;
const reSign = (store = stores.first, keys = AFTER, stop = never) =>
  reSignStatusLists(node(store, keys), stop);

/** Lists of one Principal; the i-th has bit i set. */
const insertLists = async (count: number, keys = BEFORE): Promise<string[]> => {
  const principal = await insertPrincipal(stores.first);
  const deps = node(stores.first, keys);
  for (let i = 0; i < count; i++)
    await stores.first.transaction(async (tx) => {
      await insertStatusList(deps, tx, principal);
      const list = await tx.statusLists.findForUpdate(
        `${deps.identity.statusBaseUrl}/${principal.domain}/${i + 1}`,
      );
      if (list === null) throw new Error('no list');
      await setStatusBits(deps, tx, list, [i]);
    });
  return Array.from({ length: count }, (_, i) => `https://status.svc.example/${principal.domain}/${i + 1}`);
};

const listOf = async (url: string): Promise<StatusListRecord> => {
  const list = await stores.first.statusLists.findByUrl(url);
  if (list === null) throw new Error('no list');
  return list;
};

/** The signer of a credential, and its bits. */
const readCredential = ({ credential }: StatusListRecord) => {
  const [header = '', payload = '', signature = ''] = credential.split('.');
  const json = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { kid } = json(header);
  const key = AFTER.published.find((one) => one.kid === kid);
  const isSigned =
    key !== undefined &&
    nativeCrypto.verify(key.publicKey, `${header}.${payload}`, Buffer.from(signature, 'base64url'));
  const parsed = parseStatusListCredential(json(payload));
  return { kid, isSigned, bits: decodeBitstring(parsed?.credentialSubject.encodedList ?? '') };
};

const evidenceOf = async (list: StatusListRecord) => {
  const evidence = await stores.first.evidence.find(list.credentialHash);
  return evidence === null ? null : Buffer.from(evidence.body).toString();
};

describe('after a rotation of the status key', () => {
  let urls: string[];
  let before: StatusListRecord[];
  beforeAll(async () => {
    // More lists than one read returns.
    urls = await insertLists(60);
    before = await Promise.all(urls.map(listOf));
  });

  it('every list is signed once by the new key, with two workers; bits stay, and both credentials are evidence', async () => {
    const [a, b] = await Promise.all([reSign(stores.first), reSign(stores.second)]);
    expect(a.signed + b.signed).toBe(60);
    for (const [i, former] of before.entries()) {
      const list = await listOf(urls[i] ?? '');
      const { kid, isSigned, bits } = readCredential(list);
      expect([kid, isSigned]).toEqual([`${DID}#status-2`, true]);
      expect([list.bits, bits].map((now) => now !== null && Buffer.from(now).equals(former.bits))).toEqual([
        true,
        true,
      ]);
      expect([list.version, list.nextOrdinal]).toEqual([former.version + 1, former.nextOrdinal]);
      expect(list.credentialHash).toBe(
        `sha256:${createHash('sha256').update(list.credential).digest('hex')}`,
      );
      expect([await evidenceOf(former), await evidenceOf(list)]).toEqual([
        former.credential,
        list.credential,
      ]);
    }
    expect(getBit((await listOf(urls[7] ?? '')).bits, 7)).toBe(true);
  });

  it('a second round signs nothing, and neither does one with a single key', async () => {
    expect(await reSign()).toEqual({ signed: 0, left: 0 });
    expect(await reSign(stores.first, keySet(second))).toEqual({ signed: 0, left: 0 });
  });

  it('a rotation back is followed too, and a stopped round is completed by the next one', async () => {
    const stop = new AbortController();
    const { first: store } = stores;
    const stopping = {
      ...store,
      transaction: ((work, options) => {
        stop.abort();
        return store.transaction(work, options);
      }) as Store['transaction'],
    };
    expect(await reSign(stopping, BEFORE, stop.signal)).toEqual({ signed: 1, left: 0 });
    expect(await reSign(store, BEFORE)).toEqual({ signed: 59, left: 0 });
    expect(await reSign()).toEqual({ signed: 60, left: 0 });
  });
});

describe('a revocation during the signing', () => {
  it('by a node with the former key, which locked the list first, is in the newly signed list', async () => {
    const [url = ''] = await insertLists(1);
    const revoking = node(stores.first, BEFORE);
    await withSession(stores.url, async (session) => {
      let round: ReturnType<typeof reSign> | undefined;
      await stores.first.transaction(async (tx) => {
        const list = await tx.statusLists.findForUpdate(url);
        if (list === null) throw new Error('no list');
        round = reSign(stores.second);
        await untilWaiting(session);
        await setStatusBits(revoking, tx, list, [4_711]);
      });
      expect(await round).toEqual({ signed: 1, left: 0 });
    });
    const list = await listOf(url);
    const { kid, bits } = readCredential(list);
    expect([kid, getBit(bits ?? new Uint8Array(1_000), 4_711)]).toEqual([`${DID}#status-2`, true]);
    expect(list.bits).toEqual(bits);
  });

  it('by a node with the new key leaves nothing to sign', async () => {
    const [url = ''] = await insertLists(1);
    await withSession(stores.url, async (session) => {
      let round: ReturnType<typeof reSign> | undefined;
      await stores.first.transaction(async (tx) => {
        const list = await tx.statusLists.findForUpdate(url);
        if (list === null) throw new Error('no list');
        round = reSign(stores.second);
        await untilWaiting(session);
        await setStatusBits(node(stores.first, AFTER), tx, list, [4_711]);
      });
      expect(await round).toEqual({ signed: 0, left: 0 });
    });
    expect((await listOf(url)).version).toBe(3);
  });
});

describe('a list that the service did not sign is not signed again:', () => {
  const url = async () => (await insertLists(3))[1] ?? '';
  const isLeft = async (at: string) => {
    const { credential } = await listOf(at);
    const result = await reSign();
    // The other lists are signed.
    expect([result, logged]).toEqual([{ signed: 2, left: 1 }, ['status_list.unusable']]);
    expect((await listOf(at)).credential).toBe(credential);
    await tamper(stores.url, 'delete from status_lists where url = $1', [at]);
  };

  it('a row whose bits differ from its credential', async () => {
    const at = await url();
    await tamper(stores.url, 'update status_lists set bits = set_bit(bits, 6, 0) where url = $1', [at]);
    await isLeft(at);
  });

  it('a credential with a changed payload', async () => {
    const at = await url();
    const change = `update status_lists set credential = overlay(credential placing 'x' from 300 for 1) where url = $1`;
    await tamper(stores.url, change, [at]);
    await isLeft(at);
  });

  it('the credential of another list', async () => {
    const at = await url();
    const other = await listOf(at.replace(/2$/, '1'));
    await tamper(stores.url, 'update status_lists set credential = $2, bits = $3 where url = $1', [
      ...[at, other.credential, other.bits],
    ]);
    await isLeft(at);
  });

  it('a credential by a key that is not published', async () => {
    const [at = ''] = await insertLists(1, keySet(foreign));
    expect(await reSign()).toEqual({ signed: 0, left: 0 });
    expect(readCredential(await listOf(at)).kid).toBe(`${DID}#status-3`);
  });
});
