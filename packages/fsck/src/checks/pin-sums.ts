/**
 * Compares two large sets of pins for equality without having either in memory. Each pin becomes 32 bytes: the HMAC of
 * its text under a key that is generated for this run. The pins computed from the logs are added, those of the Receipts
 * are subtracted, in any order, as four numbers modulo 2^64. The result is zero if both sets are equal, and otherwise
 * only with a probability of 2^-256: without the key, nobody can choose pins that cancel out.
 *
 * There are `PARTS` such sums for each day, by Grant, so that a difference leads to few Grants: 4 KiB for each day with
 * movements.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type Pin, textOfPin } from './pins.ts';

const PARTS = 128;
const LANES = 4;

export class PinSums {
  readonly #key = randomBytes(32);
  readonly #days = new Map<string, BigUint64Array>();

  /** Adds a pin that a log requires. */
  add(day: string, pin: Pin): void {
    const sums = this.#sumsOf(day);
    for (const [at, value] of this.#values(pin)) sums[at] = (sums[at] ?? 0n) + value;
  }

  /** Subtracts a pin that a Receipt has. */
  subtract(day: string, pin: Pin): void {
    const sums = this.#sumsOf(day);
    for (const [at, value] of this.#values(pin)) sums[at] = (sums[at] ?? 0n) - value;
  }

  /** Whether the pins of any Grant of the day differ. */
  differ(day: string): boolean {
    return this.#days.get(day)?.some((sum) => sum !== 0n) === true;
  }

  /** Whether the pins of this Grant may differ. */
  mayDiffer(day: string, grantId: string): boolean {
    const at = partOf(grantId) * LANES;
    return (
      this.#days
        .get(day)
        ?.subarray(at, at + LANES)
        .some((sum) => sum !== 0n) === true
    );
  }

  /** Frees the memory of a day that is no longer needed. */
  forget(day: string): void {
    this.#days.delete(day);
  }

  #sumsOf(day: string): BigUint64Array {
    const sums = this.#days.get(day) ?? new BigUint64Array(PARTS * LANES);
    this.#days.set(day, sums);
    return sums;
  }

  /**
   * The numbers of a pin, each with its index in the sums of the day. Elements of the array take assigned values modulo
   * 2^64.
   */
  *#values(pin: Pin): Generator<readonly [at: number, value: bigint]> {
    const digest = createHmac('sha256', this.#key).update(textOfPin(pin)).digest();
    const first = partOf(pin.grantId) * LANES;
    for (let lane = 0; lane < LANES; lane++) yield [first + lane, digest.readBigUInt64BE(lane * 8)];
  }
}

const partOf = (grantId: string): number =>
  createHash('sha256').update(grantId).digest().readUInt8(0) % PARTS;
