/**
 * A signer outside this process, with the guarantees that the service needs: each request gives a signature in time
 * that verifies under the published key, or an error, and the state of the signer is known without asking it.
 *
 * Each signature is verified before it is used. Otherwise an outside fault (a key that was exchanged, answers that were
 * mixed up) would be published.
 */
import { nativeCrypto } from '@svc/protocol/native';
import {
  KeySetError,
  messageOf,
  type PublishedKey,
  SELF_TEST,
  type ServiceSigner,
  serviceUnavailable,
  withinMs,
} from '@svc/service';
import { BusyError, type Driver } from './driver.ts';

/** Time limit of the first signature, for which libraries are loaded, credentials found and sessions opened. */
const START_MS = 10_000;
const LOOK_EVERY_MS = 1_000;
/** After this time without a signature, one is made as a test. */
const IDLE_MS = 10_000;
/**
 * Number of failures in a row, with nothing signed for as long as a signature may take, after which the signer counts
 * as unavailable. A single failure may be due to its request.
 */
const FAILURES = 3;

export interface WatchedSigner extends ServiceSigner {
  close(): Promise<void>;
}

/** Rejects with `KeySetError` if the driver does not sign, or signs with another key. */
export const watchSigner = async (driver: Driver, key: PublishedKey): Promise<WatchedSigner> => {
  const watch = new Watch(driver, key.publicKey);
  try {
    await watch.sign(SELF_TEST, START_MS);
  } catch (error) {
    await driver.close();
    throw new KeySetError(`${driver.name}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  watch.begin();
  return {
    kid: key.kid,
    ...(driver.maxBytes === null ? {} : { maxBytes: driver.maxBytes }),
    findFault: () => watch.fault,
    sign: async (bytes) => {
      try {
        return await watch.sign(bytes);
      } catch (error) {
        throw serviceUnavailable(`${key.kid}: ${driver.name}: ${String(error)}`, error);
      }
    },
    close: async () => {
      watch.end();
      await driver.close();
    },
  };
};

class Watch {
  fault: string | null = null;
  private failures = 0;
  private goodAtMs = Number.NEGATIVE_INFINITY;
  private isLooking = false;
  private isWrong = false;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly driver: Driver,
    private readonly publicKey: Uint8Array,
  ) {}

  begin(): void {
    this.timer = setInterval(() => void this.look(), LOOK_EVERY_MS).unref();
  }

  end(): void {
    clearInterval(this.timer);
  }

  async sign(bytes: Uint8Array, deadlineMs = this.driver.deadlineMs): Promise<Uint8Array> {
    const { maxBytes } = this.driver;
    if (maxBytes !== null && bytes.length > maxBytes)
      throw new RangeError(`signs ${maxBytes} bytes at most, not ${bytes.length}`);
    try {
      const signature = await this.signInTime(bytes, deadlineMs);
      if (!nativeCrypto.verify(this.publicKey, bytes, signature)) {
        this.failures = FAILURES;
        this.isWrong = true;
        throw new Error('its signature does not verify under x of the key set: another key, or a fault');
      }
      [this.failures, this.fault, this.isWrong, this.goodAtMs] = [0, null, false, performance.now()];
      return signature;
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  private async signInTime(bytes: Uint8Array, deadlineMs: number): Promise<Uint8Array> {
    const { driver } = this;
    const stop = new AbortController();
    return withinMs(deadlineMs, driver.sign(bytes, stop.signal), () => {
      const late = new Error(`no signature within ${deadlineMs} ms`);
      stop.abort(late);
      throw late;
    });
  }

  private note(error: unknown): void {
    if (error instanceof BusyError) return;
    this.failures += 1;
    const isSigning = performance.now() - this.goodAtMs < this.driver.deadlineMs;
    if (this.failures < FAILURES || (isSigning && !this.isWrong)) return;
    this.fault = `${this.driver.name}: ${messageOf(error)}`;
  }

  private async look(): Promise<void> {
    const isDue = this.failures > 0 || performance.now() - this.goodAtMs >= IDLE_MS;
    if (!isDue || this.isLooking) return;
    this.isLooking = true;
    // `sign` records the result.
    await this.sign(SELF_TEST).catch(() => {});
    this.isLooking = false;
  }
}
