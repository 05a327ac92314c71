/** Storage of events to relying parties that have verified a Grant which is now revoked (protocol §15). */

export interface RevocationNoticeRepository {
  /**
   * The next Principal after `after` that has a revocation of which not all relying parties that verified the Grant
   * were told. Principals are in order of their names; after the last comes the first again. Null: there is none.
   */
  nextToTell(after: string | null): Promise<string | null>;
  /**
   * Finds relying parties that have verified Grants which the Principal has revoked, and writes their events: at least
   * one, and more for up to `forMs`. The next call continues there. False: nothing is left, or another process is doing
   * this.
   */
  tellVerifiers(principal: string, forMs: number): Promise<boolean>;
}
