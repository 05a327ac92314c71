/** Numbers of decisions. */
export interface Counts {
  readonly verifies: number;
  readonly allow: number;
  readonly deny: number;
}

/** A running sum. `reason` is null for ALLOW. */
export class Tally {
  #allow = 0;
  #deny = 0;
  /** DENY reason → number of decisions. */
  readonly reasons = new Map<string, number>();

  get counts(): Counts {
    return { verifies: this.#allow + this.#deny, allow: this.#allow, deny: this.#deny };
  }

  add(reason: string | null, verifies: number): void {
    if (reason === null) {
      this.#allow += verifies;
    } else {
      this.#deny += verifies;
      this.reasons.set(reason, (this.reasons.get(reason) ?? 0) + verifies);
    }
  }
}

/** The value of a key, made when it is first asked for. */
export const getOrMake = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
};
