/**
 * A PKCS#11 library is initialised once in a process, for all its users. It detects tokens that were taken out and put
 * in again only when it is initialised anew. That ends every session, and each user has to open another.
 */
import { type Cryptoki, CryptokiError, loadCryptoki } from './cryptoki.ts';
import { CKR } from './return-values.ts';

/** Not more often, since a missing token must not end the sessions of other tokens again and again. */
const RENEWED_EVERY_MS = 5_000;

export class Library {
  private static readonly loaded = new Map<string, Promise<Library>>();
  private users = 0;
  private calls = 0;
  private renewedAtMs = performance.now();
  private hasSessions = false;
  private renewing: Promise<void> | null = null;

  private constructor(private readonly cryptoki: Cryptoki) {}

  /**
   * The library, which the whole process shares; call `release` when it is no longer needed. Rejects with
   * `KeySetError`.
   */
  static async use(path: string): Promise<Library> {
    let loading = Library.loaded.get(path);
    if (loading === undefined) {
      loading = loadCryptoki(path).then((cryptoki) => new Library(cryptoki));
      Library.loaded.set(path, loading);
      loading.catch(() => Library.loaded.delete(path));
    }
    const library = await loading;
    library.users += 1;
    if (library.users === 1)
      library.renewing = (library.renewing ?? Promise.resolve()).then(() => library.initialize());
    try {
      await library.renewing;
    } catch (error) {
      library.users -= 1;
      throw error;
    }
    return library;
  }

  async release(): Promise<void> {
    this.users -= 1;
    if (this.users > 0 || this.calls > 0) return;
    const ending = this.cryptoki.finalize().catch(() => {});
    this.renewing = ending;
    await ending;
    if (this.renewing === ending) this.renewing = null;
  }

  /** Calls may run at the same time: libraries are told to do their own locking. */
  async run<T>(work: (cryptoki: Cryptoki) => Promise<T>): Promise<T> {
    // A loop, since another renewal may begin before this code continues.
    while (this.renewing !== null) await this.renewing;
    this.calls += 1;
    try {
      return await work(this.cryptoki);
    } finally {
      this.calls -= 1;
    }
  }

  /** Notes that there are sessions, which a renewal would end. */
  noteSession(): void {
    this.hasSessions = true;
  }

  /**
   * Initialises the library anew so that it finds tokens, unless calls are under way, or there are sessions and the
   * last renewal was less than `RENEWED_EVERY_MS` ago.
   */
  async renew(): Promise<void> {
    if (this.renewing === null) {
      const isRecent = performance.now() - this.renewedAtMs < RENEWED_EVERY_MS;
      if (this.calls > 0 || (this.hasSessions && isRecent)) return;
      this.renewing = this.cryptoki
        .finalize()
        .catch(() => {})
        .then(() => this.initialize());
    }
    await this.renewing;
  }

  private async initialize(): Promise<void> {
    try {
      await this.cryptoki.initialize();
    } catch (error) {
      if (!(error instanceof CryptokiError && error.code === CKR.CRYPTOKI_ALREADY_INITIALIZED)) throw error;
    } finally {
      this.renewedAtMs = performance.now();
      this.hasSessions = false;
      this.renewing = null;
    }
  }
}
