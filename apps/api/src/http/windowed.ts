/**
 * Measurements of recent time. Each keeps two windows, so that its value does not start from nothing with each window.
 */

/** The best value of the present window and of the last earlier window that had any; `worst` if there is none. */
export class WindowedExtremum {
  #beganAtMs = 0;
  #best: number;
  #bestBefore: number;

  constructor(
    readonly windowMs: number,
    readonly worst: number,
    readonly better: (a: number, b: number) => number,
  ) {
    this.#best = worst;
    this.#bestBefore = worst;
  }

  add(value: number, nowMs: number): void {
    this.at(nowMs);
    this.#best = this.better(this.#best, value);
  }

  at(nowMs: number): number {
    const windows = Math.floor((nowMs - this.#beganAtMs) / this.windowMs);
    if (windows > 0) {
      if (this.#best !== this.worst) this.#bestBefore = this.#best;
      this.#best = this.worst;
      this.#beganAtMs += windows * this.windowMs;
    }
    return this.better(this.#best, this.#bestBefore);
  }
}

/** The share of counted items for which a condition holds, in the present window and the one before it. */
export class WindowedShare {
  #counts = { holding: 0, all: 0 };
  #before = { holding: 0, all: 0 };

  add(holds: boolean): void {
    this.#counts.all += 1;
    if (holds) this.#counts.holding += 1;
  }

  share(): number {
    const all = this.#counts.all + this.#before.all;
    return all === 0 ? 0 : (this.#counts.holding + this.#before.holding) / all;
  }

  nextWindow(): void {
    this.#before = this.#counts;
    this.#counts = { holding: 0, all: 0 };
  }

  clear(): void {
    this.nextWindow();
    this.nextWindow();
  }
}

/** Rate per millisecond over windows of `windowMs` or a little more. The best rate is remembered for `rememberedMs`. */
export class WindowedRate {
  #beganAtMs = 0;
  #count = 0;
  readonly #best: WindowedExtremum;

  constructor(
    readonly windowMs: number,
    rememberedMs: number,
  ) {
    this.#best = new WindowedExtremum(rememberedMs, 0, Math.max);
  }

  /** Returns the count of the window if this call ends it; null: the window goes on. */
  add(count: number, nowMs: number): number | null {
    this.#count += count;
    const elapsedMs = nowMs - this.#beganAtMs;
    if (elapsedMs < this.windowMs) return null;
    const counted = this.#count;
    this.#best.add(counted / elapsedMs, nowMs);
    this.#beganAtMs = nowMs;
    this.#count = 0;
    return counted;
  }

  best(nowMs: number): number {
    return this.#best.at(nowMs);
  }

  /** Rate of the window that has not ended; 0 while it is shorter than `atLeastMs`. */
  present(nowMs: number, atLeastMs: number): number {
    const elapsedMs = nowMs - this.#beganAtMs;
    return elapsedMs < atLeastMs ? 0 : this.#count / elapsedMs;
  }
}
