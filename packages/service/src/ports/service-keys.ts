/** The public keys of the service, by kid, and when each stopped being one. */

export interface ServiceKeyRecord {
  readonly kid: string;
  readonly publicKeyMultibase: string;
  /** When the service first published it. */
  readonly firstSeenAtMs: number;
  /** When it was first seen without its private part; null: it may sign. */
  readonly retiredAtMs: number | null;
  /** When the operator said that somebody else may have it. */
  readonly compromisedAtMs: number | null;
}

export type ServiceKeyEnd = 'retired' | 'compromised';

export interface ServiceKeyRepository {
  /**
   * Remembers for ever which key a kid of the service names, unless it names one already. Answers the key that it
   * names. Two callers at once get the same answer.
   */
  remember(kid: string, publicKeyMultibase: string): Promise<string>;
  /** Ends a remembered key now, for ever. The first time of each end is kept. */
  end(kid: string, how: ServiceKeyEnd): Promise<void>;
  /** Every key that was ever published, by ascending kid. */
  list(): Promise<ServiceKeyRecord[]>;
}
