/**
 * Sends the revocation of a Grant to the relying parties that have verified it (protocol §15). They are looked up in
 * short steps, and Principals take turns: a Principal whose relying parties take long to find does not delay those of
 * another.
 */
import type { RevocationNoticeRepository } from '../ports/revocation-notices.ts';

/** Milliseconds for one Principal at each of its turns. */
const STEP_MS = 100;

export class VerifierTurns {
  private whose: string | null = null;

  constructor(private readonly notices: RevocationNoticeRepository) {}

  /** The Principal whose turn it is, or was last. */
  get principal(): string | null {
    return this.whose;
  }

  /**
   * Does one step for the next Principal. False: there is none, or another process is at work. When the step rejects,
   * the Principal's turn has passed all the same.
   */
  async tellNext(): Promise<boolean> {
    this.whose = await this.notices.nextToTell(this.whose);
    return this.whose !== null && (await this.notices.tellVerifiers(this.whose, STEP_MS));
  }
}
