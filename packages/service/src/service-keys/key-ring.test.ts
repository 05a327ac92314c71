import { generateKeyPairSync } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Holds } from '../lib/holds.ts';
import type { ServiceKeyRecord } from '../ports/service-keys.ts';
import { StoreError } from '../ports/store.ts';
import { KeyRing, type KeyRingDeps, type ServiceKeySets } from './key-ring.ts';
import { KeySetError, keysOfOthers, parseKeySet } from './key-set.ts';

const DID = 'did:web:svc.example';
const FORMER = 'did:web:former.example' as DidWeb;
const NOW_MS = Date.parse('2026-11-20T10:00:00.400Z');

type Record = { -readonly [K in keyof ServiceKeyRecord]: ServiceKeyRecord[K] };

/** A database in memory that stores keys. */
const memory = () => {
  const records = new Map<string, Record>();
  let isDown = false;
  const serviceKeys = {
    remember: async (kid: string, publicKeyMultibase: string) => {
      if (!records.has(kid))
        records.set(kid, {
          kid,
          publicKeyMultibase,
          firstSeenAtMs: NOW_MS,
          retiredAtMs: null,
          compromisedAtMs: null,
        });
      return records.get(kid)?.publicKeyMultibase ?? '';
    },
    end: async (kid: string, how: 'retired' | 'compromised') => {
      const record = records.get(kid);
      if (record === undefined) throw new Error(`no ${kid}`);
      if (how === 'retired') record.retiredAtMs ??= NOW_MS + 1_000;
      else record.compromisedAtMs ??= NOW_MS + 2_000;
    },
    list: async () => {
      if (isDown) throw new StoreError('unavailable', 'down');
      return structuredClone([...records.values()]);
    },
  };
  const store = {
    serviceKeys,
    transaction: <T>(work: (tx: never) => Promise<T>) => work({ serviceKeys } as never),
  } as unknown as KeyRingDeps['store'];
  return {
    ...{ store, records, end: serviceKeys.end },
    setDown: (down: boolean) => {
      isDown = down;
    },
  };
};

const jwk = (kid: string) => ({
  kid,
  ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
});
const publicPartOf = ({ d: _, ...rest }: ReturnType<typeof jwk>) => rest;
const [R1, R2, S1, S2] = [jwk('receipt-1'), jwk('receipt-2'), jwk('status-1'), jwk('status-2')];
const setsOf = (receipt: readonly object[], status: readonly object[] = [S1]): ServiceKeySets => ({
  receiptKeys: parseKeySet({ keys: receipt }, 'receipt', DID),
  statusKeys: parseKeySet({ keys: status }, 'status', DID),
});

let database: ReturnType<typeof memory>;
let files: ServiceKeySets;
let holds: Holds;
let ring: KeyRing | undefined;
let logged: unknown[];
/** The signers that were left open, for each call that closed the others. */
let used: unknown[];
const log = (...line: unknown[]) => void logged.push(line);
beforeEach(() => {
  database = memory();
  logged = [];
  used = [];
  files = setsOf([R1]);
  holds = new Holds({ info: () => {}, warn: () => {}, error: () => {} });
});
afterEach(() => ring?.stop());

const depsOf = () => ({
  store: database.store,
  holds,
  log: { info: log, warn: log, error: log },
  did: DID,
  formerDids: [FORMER],
  closeAllBut: (signers: unknown) => void used.push(signers),
});
const start = async (sets = files): Promise<KeyRing> => {
  ring = await KeyRing.start({ ...depsOf(), load: async () => files }, sets);
  return ring;
};
const signs = async (keys: KeyRing): Promise<string> => {
  const { signer } = keys.receiptKeys;
  await signer.sign(new Uint8Array(1));
  return signer.kid;
};
const timesOf = ({ receiptKeys }: KeyRing) =>
  Object.fromEntries(receiptKeys.published.map(({ kid, time }) => [kid.split('#')[1], time]));

describe('a service key', () => {
  it('is in force from its first publication, rounded down to a whole second', async () => {
    expect(timesOf(await start())).toEqual({
      'receipt-1': { fromMs: Date.parse('2026-11-20T10:00:00Z'), untilMs: null, isCompromised: false },
    });
  });

  it('is listed in the same array until something changes, by whose identity checked lists are kept', async () => {
    const keys = await start();
    const { published } = keys.statusKeys;
    await keys.refresh();
    expect(keys.statusKeys.published).toBe(published);
    await database.end(`${DID}#status-1`, 'compromised');
    await keys.refresh();
    expect(keys.statusKeys.published).not.toBe(published);
  });

  it('without its private part is retired at the next start, its end rounded up to a second, and stays retired', async () => {
    (await start()).stop();
    const keys = await start(setsOf([R2, publicPartOf(R1)]));
    expect(timesOf(keys)['receipt-1']).toMatchObject({ untilMs: Date.parse('2026-11-20T10:00:02Z') });
    expect(await signs(keys)).toBe(`${DID}#receipt-2`);
    // With its private part again it stays retired, because the published end cannot be withdrawn.
    await expect(start(setsOf([R1, R2]))).rejects.toThrow(/receipt-1 is retired since/);
  });

  it('that is new is not stored while the clock is in doubt; a known key still signs', async () => {
    (await start()).stop();
    holds.set('clock', 'the clocks differ by 7200 s');
    expect(await signs(await start())).toBe(`${DID}#receipt-1`);
    ring?.stop();
    await expect(start(setsOf([R2, R1]))).rejects.toThrow(/receipt-2 is new.*differ by 7200 s/);
    expect([...database.records.keys()]).toEqual([`${DID}#receipt-1`, `${DID}#status-1`]);
    holds.set('clock', null);
    expect(await signs(await start(setsOf([R2, R1])))).toBe(`${DID}#receipt-2`);
  });

  it('that is no longer in the file stays published with its end', async () => {
    (await start()).stop();
    await database.end(`${DID}#receipt-1`, 'retired');
    expect(timesOf(await start(setsOf([R2])))).toMatchObject({
      'receipt-2': { untilMs: null },
      'receipt-1': { untilMs: Date.parse('2026-11-20T10:00:02Z'), isCompromised: false },
    });
  });

  it('of another service in the same database is not published', async () => {
    await database.store.serviceKeys.remember('did:web:svc.example.org#receipt-1', 'z6Mk');
    expect(Object.keys(timesOf(await start()))).toEqual(['receipt-1']);
  });

  it('of a former DID of the service is listed under that DID', async () => {
    const [key] = setsOf([R1]).receiptKeys.published;
    await database.store.serviceKeys.remember(`${FORMER}#status-1`, key?.publicKeyMultibase ?? '');
    const keys = await start();
    expect(keys.statusKeys.published.map(({ kid }) => kid)).toEqual([`${DID}#status-1`]);
    expect(keys.formers).toEqual([
      {
        did: FORMER,
        receiptKeys: { published: [] },
        statusKeys: {
          published: [expect.objectContaining({ kid: `${FORMER}#status-1`, publicKey: key?.publicKey })],
        },
      },
    ]);
  });
});

describe('a compromised signing key', () => {
  it('signs no more: the service holds until its file begins with a key in force, and then closes the old signer', async () => {
    const keys = await start();
    expect(await signs(keys)).toBe(`${DID}#receipt-1`);
    await database.end(`${DID}#receipt-1`, 'compromised');
    await keys.refresh();
    await expect(signs(keys)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(holds.list()).toEqual([
      { name: 'keys', reason: expect.stringMatching(/receipt-1 is compromised since/) },
    ]);
    expect(used).toEqual([[files.receiptKeys.signer, files.statusKeys.signer]]);
    files = setsOf([R2, publicPartOf(R1)]);
    await keys.refresh();
    expect(await signs(keys)).toBe(`${DID}#receipt-2`);
    expect(used.slice(1)).toEqual([[files.receiptKeys.signer, files.statusKeys.signer]]);
    expect(holds.list()).toEqual([]);
    expect(timesOf(keys)['receipt-1']).toMatchObject({ isCompromised: true });
  });

  it('signs no more for a caller that holds its signer from before', async () => {
    const keys = await start();
    const { signer } = keys.receiptKeys;
    await database.end(`${DID}#receipt-1`, 'compromised');
    files = setsOf([R2, publicPartOf(R1)]);
    await keys.refresh();
    expect(() => signer.sign(new Uint8Array(1))).toThrow(/backing service/);
  });

  it('keeps the service on hold while the file cannot be read or has another key under a known kid', async () => {
    const keys = await start();
    await database.end(`${DID}#receipt-1`, 'compromised');
    for (const load of [
      async () => {
        throw new KeySetError('not JSON');
      },
      async () => setsOf([R2, jwk('receipt-1')]),
    ]) {
      Object.defineProperty(keys, 'deps', {
        value: { ...depsOf(), load },
      });
      await keys.refresh();
      await expect(signs(keys)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      expect(holds.list()).toEqual([
        {
          name: 'keys',
          reason: expect.stringMatching(
            /receipt-1 is compromised since .* is not taken: (not JSON|the signing keys are not those)/,
          ),
        },
      ]);
    }
  });

  it('keeps the service on hold, with the reason, while the new keys are being loaded', async () => {
    const keys = await start();
    await database.end(`${DID}#receipt-1`, 'compromised');
    let give = (_: ServiceKeySets) => {};
    const load = () =>
      new Promise<ServiceKeySets>((resolve) => {
        give = resolve;
      });
    Object.defineProperty(keys, 'deps', { value: { ...depsOf(), load } });
    const held = new Promise<void>((resolve) => {
      const set = holds.set.bind(holds);
      vi.spyOn(holds, 'set').mockImplementation((...how) => {
        set(...how);
        if (holds.list().some(({ name }) => name === 'keys')) resolve();
      });
    });
    const refreshed = keys.refresh();
    await held;
    expect(holds.list()).toEqual([
      { name: 'keys', reason: expect.stringMatching(/receipt-1 is compromised since/) },
    ]);
    give(setsOf([R2, publicPartOf(R1)]));
    await refreshed;
    expect(holds.list()).toEqual([]);
    expect(logged).toContainEqual(['keys.taken', { receipt: `${DID}#receipt-2`, status: `${DID}#status-1` }]);
  });

  it('of a process that signs no Receipts is replaced, and only the new status key is logged', async () => {
    const setsOfWorker = (status: readonly object[]): ServiceKeySets => ({
      receiptKeys: keysOfOthers('receipt'),
      statusKeys: parseKeySet({ keys: status }, 'status', DID),
    });
    files = setsOfWorker([S1]);
    const keys = await start();
    await database.end(`${DID}#status-1`, 'compromised');
    files = setsOfWorker([S2, publicPartOf(S1)]);
    await keys.refresh();
    expect(logged).toContainEqual(['keys.taken', { status: `${DID}#status-2` }]);
  });

  it('stays refused while the database cannot be asked', async () => {
    const keys = await start();
    await database.end(`${DID}#receipt-1`, 'compromised');
    await keys.refresh();
    database.setDown(true);
    await keys.refresh();
    await expect(signs(keys)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(holds.list()).toHaveLength(1);
  });

  it('is refused at the start', async () => {
    (await start()).stop();
    await database.end(`${DID}#receipt-1`, 'compromised');
    await expect(start()).rejects.toThrow(KeySetError);
    await expect(start()).rejects.toThrow(/receipt-1 is compromised since .*put a new key first/);
  });
});

describe('a signer outside the process that does not answer', () => {
  const faulty = (set: ServiceKeySets['receiptKeys'], findFault: () => string | null) => ({
    ...set,
    signer: { ...set.signer, findFault },
  });

  it('holds decisions as long as it is away, if it signs Receipts', async () => {
    let fault: string | null = null;
    const keys = await start({ ...files, receiptKeys: faulty(files.receiptKeys, () => fault) });
    fault = 'token svc: no such token is there';
    await keys.refresh();
    expect(holds.list()).toEqual([{ name: 'signer', reason: fault }]);
    database.setDown(true);
    fault = null;
    await keys.refresh();
    expect(holds.list()).toEqual([]);
  });

  it('holds no decisions if it signs status lists; it is logged once, and its fault is available to readiness', async () => {
    let fault: string | null = null;
    const keys = await start({ ...files, statusKeys: faulty(files.statusKeys, () => fault) });
    fault = 'token svc: no such token is there';
    await keys.refresh();
    await keys.refresh();
    expect(holds.list()).toEqual([]);
    expect(keys.statusKeys.signer.findFault?.()).toBe(fault);
    fault = null;
    await keys.refresh();
    expect(logged.map((line) => (line as string[])[0])).toEqual(['signer.gone', 'signer.back']);
  });
});
