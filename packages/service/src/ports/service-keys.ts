/** The public keys of the service, by kid. */

export interface ServiceKeyRepository {
  /**
   * Remembers for ever which key a kid of the service names, unless it names one already. Answers the key that it
   * names. Two callers at once get the same answer.
   */
  remember(kid: string, publicKeyMultibase: string): Promise<string>;
}
