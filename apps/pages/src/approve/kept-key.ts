/**
 * Where the browser keeps the signing key: one record, of this origin alone. What lies there is encrypted, or a key
 * that cannot be read out.
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

/** By whom or what the key is kept from being used. */
export type KeptKey =
  /** Encrypted by a secret that the passkey gives to who has proven to be its user. */
  | (Sealed & { readonly guard: 'passkey'; readonly credentialId: ArrayBuffer })
  /** Not extractable; this page asks the passkey for its user before it is used. */
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
