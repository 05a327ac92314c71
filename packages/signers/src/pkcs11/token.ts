/** A key in a PKCS#11 token: finds it, logs in, and signs with a limited number of sessions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { KeySetError, RefusedPinError, Semaphore } from '@svc/service';
import { BusyError, type Driver } from '../driver.ts';
import type { TokenUri } from '../key-uri.ts';
import { type Attribute, type Cryptoki, CryptokiError, type Handle } from './cryptoki.ts';
import { Library } from './library.ts';
import { CKR } from './return-values.ts';

const CKA_CLASS = 0x00;
const CKA_TOKEN = 0x01;
const CKA_PRIVATE = 0x02;
const CKA_LABEL = 0x03;
const CKA_KEY_TYPE = 0x100;
const CKA_ID = 0x102;
const CKA_SENSITIVE = 0x103;
const CKA_SIGN = 0x108;
const CKA_VERIFY = 0x10a;
const CKA_EXTRACTABLE = 0x162;
const CKO = { public: 2, private: 3 } as const;
const CKK_EC_EDWARDS = 0x40;

const DEADLINE_MS = 500;
const MAX_WAITING = 1_000;
const MAX_CALLS = 16;
/**
 * Pauses before a token is looked for again. This is done if the token was not found, or failed before it was given the
 * PIN, and the key has never logged in to it. SoftHSM writes its state at each login, and other processes find no token
 * meanwhile; so nodes that start together would end each other. The sum is longer than the time for which a library
 * with sessions is not renewed (`Library.renew`).
 */
const LOOKED_FOR_AGAIN_MS = [50, 100, 200, 400, 800, 1_600, 2_400] as const;
/** Threads of libuv's pool that are reserved for file access, DNS and compression, even if the token hangs. */
const KEPT_THREADS = 2;

const REFUSED_PIN = new Set<number>([
  ...[CKR.PIN_INCORRECT, CKR.PIN_INVALID, CKR.PIN_LEN_RANGE, CKR.PIN_EXPIRED, CKR.PIN_LOCKED],
]);

/**
 * Limits the calls to tokens at once; each occupies a thread of libuv's pool. A process has one pool, so its tokens
 * share `line`. A key leaves one of the calls to other keys, so that a token that hangs does not take them all.
 */
export interface TokenCalls {
  readonly line: Semaphore;
  readonly ofOneKey: number;
}

export const tokenCallsOf = (env: Readonly<Record<string, string | undefined>>): TokenCalls => {
  const atOnce = callsAtOnce(env);
  // Unlimited, since each key limits its own calls.
  const line = new Semaphore({ atOnce, maxWaiting: Number.POSITIVE_INFINITY, full });
  return { line, ofOneKey: Math.max(1, atOnce - 1) };
};

export const callsAtOnce = (env: Readonly<Record<string, string | undefined>>): number => {
  const threads = Number(env.UV_THREADPOOL_SIZE ?? 4) || 4;
  return Math.max(1, Math.min(MAX_CALLS, threads - KEPT_THREADS));
};

const full = () => new BusyError(`${MAX_WAITING} signatures are waited for already`);

interface Session {
  readonly handle: Handle;
  readonly key: Handle;
}

/**
 * The PINs that tokens have refused in this process. Such a PIN is not given to that token again, for any key, since
 * tokens count wrong PINs and lock themselves. For the same reason only one login to a token runs at a time.
 */
export class RefusedPins {
  readonly #refused: { readonly token: string; readonly pin: Buffer; readonly error: RefusedPinError }[] = [];
  readonly #turns = new Map<string, Promise<unknown>>();

  /**
   * `login` rejects with `RefusedPinError` for a wrong PIN. `token`: one name of the token, the same for all its keys.
   */
  async give(token: string, pin: Buffer, login: () => Promise<void>): Promise<void> {
    const inTurn = async () => {
      const known = this.#refused.find((one) => one.token === token && one.pin.equals(pin));
      if (known !== undefined) throw known.error;
      try {
        await login();
      } catch (error) {
        if (error instanceof RefusedPinError) this.#refused.push({ token, pin, error });
        throw error;
      }
    };
    const turn = (this.#turns.get(token) ?? Promise.resolve()).then(inTurn);
    this.#turns.set(
      token,
      turn.catch(() => {}),
    );
    return turn;
  }
}

export interface TokenDeps {
  readonly pin: Buffer;
  readonly calls: TokenCalls;
  readonly refused: RefusedPins;
  /** True: a token that is not found is looked for again. */
  readonly isStarting: boolean;
}

/** Rejects with `KeySetError` if the library cannot be loaded. */
export const openToken = async (uri: TokenUri, deps: TokenDeps): Promise<Token> =>
  new Token(await Library.use(uri.modulePath), uri, deps);

export class Token implements Driver {
  readonly name: string;
  readonly maxBytes = null;
  readonly deadlineMs = DEADLINE_MS;
  private readonly idle: Session[] = [];
  private readonly turns: Semaphore;
  private hasBeenIn = false;

  constructor(
    private readonly library: Library,
    private readonly uri: TokenUri,
    private readonly deps: TokenDeps,
  ) {
    const { object, id } = uri;
    const key = [object === null ? [] : [object], id === null ? [] : [`id ${id.toString('hex')}`]].flat();
    this.name = `token ${uri.token ?? uri.serial}${key.length === 0 ? '' : `, key ${key.join(', ')}`}`;
    this.turns = new Semaphore({ atOnce: deps.calls.ofOneKey, maxWaiting: MAX_WAITING, full });
  }

  /** If the session was lost, for example because the token was taken out and put in again, opens another one once. */
  sign(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const { line } = this.deps.calls;
    return this.turns.run(() => line.run(() => this.signInTurn(bytes, signal), signal), signal);
  }

  /** The public key of the pair. Rejects with `KeySetError` if there is none or more than one. */
  async readPublicKey(): Promise<Uint8Array> {
    const { session, cryptoki } = await this.login({ isWriting: false });
    try {
      const key = await this.findKey(cryptoki, session, 'public');
      return rawPointOf(await cryptoki.getEcPoint(session, key));
    } finally {
      await cryptoki.closeSession(session).catch(() => {});
    }
  }

  /** Makes a key pair that cannot leave the token, unless it exists. */
  async makeKey(): Promise<void> {
    const { session, cryptoki } = await this.login({ isWriting: true });
    try {
      const there = await cryptoki.findObjects(session, this.templateOf('private'));
      if (there.length > 0) return;
      const both = [...this.names(), flag(CKA_TOKEN, true)];
      await cryptoki.generateEd25519(
        session,
        [...both, flag(CKA_VERIFY, true)],
        [
          ...both,
          flag(CKA_PRIVATE, true),
          flag(CKA_SENSITIVE, true),
          flag(CKA_EXTRACTABLE, false),
          flag(CKA_SIGN, true),
        ],
      );
    } finally {
      await cryptoki.closeSession(session).catch(() => {});
    }
  }

  async close(): Promise<void> {
    for (const { handle } of this.idle.splice(0)) await this.closeSession(handle);
    await this.library.release();
  }

  private async signInTurn(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    const known = this.idle.pop();
    if (known !== undefined) {
      try {
        return await this.signOver(known, bytes);
      } catch (error) {
        if (signal.aborted || !(error instanceof CryptokiError)) throw error;
      }
    }
    return await this.signOver(await this.open(signal), bytes);
  }

  private async signOver(session: Session, bytes: Uint8Array): Promise<Uint8Array> {
    try {
      const { handle, key } = session;
      const signature = await this.library.run((cryptoki) => cryptoki.signEddsa(handle, key, bytes));
      this.idle.push(session);
      return signature;
    } catch (error) {
      await this.closeSession(session.handle);
      throw error;
    }
  }

  private async open(signal: AbortSignal): Promise<Session> {
    const { session, cryptoki } = await this.login({ isWriting: false, signal });
    try {
      return { handle: session, key: await this.findKey(cryptoki, session, 'private') };
    } catch (error) {
      await this.closeSession(session);
      throw error;
    }
  }

  private async login(how: Login): Promise<LoggedIn> {
    for (const pauseMs of LOOKED_FOR_AGAIN_MS) {
      if (this.hasBeenIn || !this.deps.isStarting) break;
      try {
        return await this.loginOnce(how);
      } catch (error) {
        if (!isBeforePin(error)) throw error;
        await sleep(pauseMs, undefined, { signal: how.signal });
      }
    }
    return await this.loginOnce(how);
  }

  private async loginOnce({ isWriting, signal }: Login): Promise<LoggedIn> {
    try {
      return await this.library.run(async (cryptoki) => {
        const { slot, serial } = await this.findSlot(cryptoki);
        const session = await cryptoki.openSession(slot, { isWriting });
        try {
          const { refused, pin } = this.deps;
          await refused.give(`${this.uri.modulePath} ${serial}`, pin, async () => {
            signal?.throwIfAborted();
            await this.givePin(cryptoki, session);
          });
          this.hasBeenIn = true;
          this.library.noteSession();
          return { session, cryptoki };
        } catch (error) {
          await cryptoki.closeSession(session).catch(() => {});
          throw error;
        }
      });
    } catch (error) {
      await this.library.renew().catch(() => {});
      throw error;
    }
  }

  private async givePin(cryptoki: Cryptoki, session: Handle): Promise<void> {
    try {
      await cryptoki.login(session, this.deps.pin);
    } catch (error) {
      if (!(error instanceof CryptokiError)) throw error;
      if (error.code === CKR.USER_ALREADY_LOGGED_IN) return;
      if (!REFUSED_PIN.has(error.code)) throw error;
      throw new RefusedPinError(
        `the token does not take the PIN (${error.message}); it is not tried again before the next start, since tokens lock themselves`,
      );
    }
  }

  private async findSlot(cryptoki: Cryptoki): Promise<{ slot: Handle; serial: string }> {
    const { token, serial } = this.uri;
    const found: { slot: Handle; serial: string }[] = [];
    for (const slot of await cryptoki.listSlots()) {
      const info = await cryptoki.getToken(slot);
      if ((token ?? info.label) === info.label && (serial ?? info.serial) === info.serial)
        found.push({ slot, serial: info.serial });
    }
    const [one, another] = found;
    if (one === undefined) throw new NoTokenError('no such token is there');
    if (another !== undefined) throw new KeySetError('several tokens have this label: name one by serial=');
    return one;
  }

  private async findKey(cryptoki: Cryptoki, session: Handle, half: keyof typeof CKO): Promise<Handle> {
    const [key, another] = await cryptoki.findObjects(session, this.templateOf(half));
    if (key === undefined) throw new KeySetError(`the token has no such Ed25519 ${half} key`);
    if (another !== undefined)
      throw new KeySetError(`the token has several such ${half} keys: name one by id=`);
    return key;
  }

  private templateOf(half: keyof typeof CKO): readonly Attribute[] {
    return [number(CKA_CLASS, CKO[half]), number(CKA_KEY_TYPE, CKK_EC_EDWARDS), ...this.names()];
  }

  private names(): readonly Attribute[] {
    const { object, id } = this.uri;
    return [
      ...(object === null ? [] : [{ type: CKA_LABEL, value: Buffer.from(object, 'utf8') }]),
      ...(id === null ? [] : [{ type: CKA_ID, value: id }]),
    ];
  }

  private async closeSession(handle: Handle): Promise<void> {
    // The session may have ended with its token.
    await this.library.run((cryptoki) => cryptoki.closeSession(handle)).catch(() => {});
  }
}

interface Login {
  readonly isWriting: boolean;
  /** No search and no login is begun once it is aborted. */
  readonly signal?: AbortSignal;
}

interface LoggedIn {
  readonly session: Handle;
  readonly cryptoki: Cryptoki;
}

class NoTokenError extends KeySetError {}

/**
 * True: the error occurred before the login. Not every library reports a wrong PIN by its code, and giving it
 * repeatedly locks the token; so no error of a login is tried again.
 */
const isBeforePin = (error: unknown): boolean =>
  error instanceof NoTokenError || (error instanceof CryptokiError && error.call !== 'C_Login');

const flag = (type: number, value: boolean): Attribute => ({ type, value: Buffer.from([value ? 1 : 0]) });

const number = (type: number, value: number): Attribute => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return { type, value: bytes };
};

/** Tokens return the 32 bytes as they are, or in an OCTET STRING or BIT STRING. */
const rawPointOf = (point: Buffer): Uint8Array => {
  const tag = point.subarray(0, 3).toString('hex');
  if (point.length === 34 && tag.startsWith('0420')) return new Uint8Array(point.subarray(2));
  if (point.length === 35 && tag === '032100') return new Uint8Array(point.subarray(3));
  if (point.length === 32) return new Uint8Array(point);
  throw new KeySetError('the token does not tell the public key as an Ed25519 point');
};
