/**
 * Where the browser keeps the signing key: one record, readable by this origin only. The record is either encrypted or
 * holds a key that cannot be exported.
 */

interface Kept {
  /** The DID URL under which the public key is published. */
  readonly kid: string;
}
interface Sealed extends Kept {
  readonly iv: Uint8Array<ArrayBuffer>;
  readonly sealed: ArrayBuffer;
  readonly salt: Uint8Array<ArrayBuffer>;
}

/** The kept key, by what guards it against use by somebody else. */
export type KeptKey =
  /** Encrypted under a secret that the passkey gives only after it has verified its user. */
  | (Sealed & { readonly guard: 'passkey'; readonly credentialId: ArrayBuffer })
  /** Not extractable; the page has the passkey verify its user before each use. */
  | (Kept & { readonly guard: 'presence'; readonly credentialId: ArrayBuffer; readonly key: CryptoKey })
  /** Encrypted by a passphrase. */
  | (Sealed & { readonly guard: 'passphrase' });

const DATABASE = 'svc-approve';
const STORE = 'keys';
const ONLY = 'signing-key';

export const readKeptKey = async (): Promise<KeptKey | null> =>
  ((await inStore('readonly', (store) => store.get(ONLY))) as KeptKey | undefined) ?? null;

export const writeKeptKey = async (kept: KeptKey): Promise<void> => {
  await inStore('readwrite', (store) => store.put(kept, ONLY));
};

export const forgetKeptKey = async (): Promise<void> => {
  await inStore('readwrite', (store) => store.delete(ONLY));
};

const inStore = async (
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest,
): Promise<unknown> => {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = (await settled(opening)) as IDBDatabase;
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
};

const settled = (request: IDBRequest): Promise<unknown> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(new Error('This browser keeps nothing for this page.'));
  });
