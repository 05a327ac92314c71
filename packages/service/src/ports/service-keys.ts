/** Storage of the service's public keys, by kid, and of when each ended. */

export interface ServiceKeyRecord {
  readonly kid: string;
  readonly publicKeyMultibase: string;
  /** When the service first published it. */
  readonly firstSeenAtMs: number;
  /** When the key was first seen without its private part; null: it may sign. */
  readonly retiredAtMs: number | null;
  /** When the operator reported that another party may have the private key; null: never. */
  readonly compromisedAtMs: number | null;
}

export type ServiceKeyEnd = 'retired' | 'compromised';

export interface ServiceKeyRepository {
  /**
   * Stores for ever which key a kid of the service names, unless the kid names a key already. Answers the key that it
   * names. Concurrent callers get the same answer.
   */
  remember(kid: string, publicKeyMultibase: string): Promise<string>;
  /** Ends a stored key now, for ever. The first time of each kind of end is kept. */
  end(kid: string, how: ServiceKeyEnd): Promise<void>;
  /** Every key that was ever published, by ascending kid. */
  list(): Promise<ServiceKeyRecord[]>;
}
