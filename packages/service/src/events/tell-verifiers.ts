/**
 * Relying parties that have verified a Grant hear of its revocation (protocol §15). Who they are is looked up in short
 * steps, and Principals take turns: one whose relying parties take long to find keeps those of no other.
 */
import type { RevocationNoticeRepository } from '../ports/revocation-notices.ts';

/** Milliseconds for one Principal at each of its turns. */
const STEP_MS = 100;

export class VerifierTurns {
  private whose: string | null = null;

  constructor(private readonly notices: RevocationNoticeRepository) {}

  /** Whose turn it is, or was the last. */
  get principal(): string | null {
    return this.whose;
  }

  /**
   * One step of whoever is next. False: nobody is, or somebody else is at it. Where it rejects, its turn has passed all
   * the same.
   */
  async tellNext(): Promise<boolean> {
    this.whose = await this.notices.nextToTell(this.whose);
    return this.whose !== null && (await this.notices.tellVerifiers(this.whose, STEP_MS));
  }
}
