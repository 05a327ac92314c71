/**
 * Whether two large sets of pins are equal, without either in memory. Each pin becomes 32 bytes, the HMAC of its text
 * under a key that lasts as long as the run; those that the logs come to are added up, those that Receipts have are
 * subtracted, in any order, as four numbers modulo 2^64. What is left is zero where both had the same pins, and
 * otherwise only by a chance of 2^-256: nobody can choose what adds up without the key.
 *
 * There are `PARTS` such sums for each day, by Grant, so that a difference leads to few Grants: 4 KiB for each day that
 * has movements.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type Pin, textOfPin } from './pins.ts';

const PARTS = 128;
const LANES = 4;

export class PinSums {
  readonly #key = randomBytes(32);
  readonly #days = new Map<string, BigUint64Array>();

  /** What a log comes to. */
  add(day: string, pin: Pin): void {
    const sums = this.#sumsOf(day);
    for (const [at, value] of this.#values(pin)) sums[at] = (sums[at] ?? 0n) + value;
  }

  /** What a Receipt has. */
  subtract(day: string, pin: Pin): void {
    const sums = this.#sumsOf(day);
    for (const [at, value] of this.#values(pin)) sums[at] = (sums[at] ?? 0n) - value;
  }

  /** Whether the pins of any Grant differ. */
  differ(day: string): boolean {
    return this.#days.get(day)?.some((sum) => sum !== 0n) === true;
  }

  /** Whether those of this Grant may. */
  mayDiffer(day: string, grantId: string): boolean {
    const at = partOf(grantId) * LANES;
    return (
      this.#days
        .get(day)
        ?.subarray(at, at + LANES)
        .some((sum) => sum !== 0n) === true
    );
  }

  /** Nothing more will be asked of the day. */
  forget(day: string): void {
    this.#days.delete(day);
  }

  #sumsOf(day: string): BigUint64Array {
    const sums = this.#days.get(day) ?? new BigUint64Array(PARTS * LANES);
    this.#days.set(day, sums);
    return sums;
  }

  /** Where in the sums of its day which number belongs. An element takes what is assigned to it modulo 2^64. */
  *#values(pin: Pin): Generator<readonly [at: number, value: bigint]> {
    const digest = createHmac('sha256', this.#key).update(textOfPin(pin)).digest();
    const first = partOf(pin.grantId) * LANES;
    for (let lane = 0; lane < LANES; lane++) yield [first + lane, digest.readBigUInt64BE(lane * 8)];
  }
}

const partOf = (grantId: string): number =>
  createHash('sha256').update(grantId).digest().readUInt8(0) % PARTS;
