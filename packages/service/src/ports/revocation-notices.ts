/** Events for relying parties that have verified a Grant which is revoked (protocol §15). */

export interface RevocationNoticeRepository {
  /**
   * The next Principal after `after`, by name and beginning again at the first, with a revocation that was not yet sent to every
   * relying party that has verified the Grant; null: there is none.
   */
  nextToTell(after: string | null): Promise<string | null>;
  /**
   * Looks for relying parties that have verified what the Principal has revoked, and writes what they are told: one at
   * least, and further ones for `forMs`; the next call goes on from there. False: nothing is left, or somebody else is
   * at it.
   */
  tellVerifiers(principal: string, forMs: number): Promise<boolean>;
}
