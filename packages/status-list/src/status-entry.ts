/** The `credentialStatus` of a Grant (interface §CredentialStatus; Bitstring Status List 1.0 §2.1). */
export interface BitstringStatusListEntry {
  readonly id: string;
  readonly type: 'BitstringStatusListEntry';
  readonly statusPurpose: 'revocation';
  /** A decimal integer without leading zeros. */
  readonly statusListIndex: string;
  readonly statusListCredential: string;
}

/**
 * The `credentialStatus` of a Grant: entry `index` of the list that is published under `credentialUrl`.
 * @throws RangeError if `index` is not a non-negative integer.
 */
export function buildStatusEntry(at: { credentialUrl: string; index: number }): BitstringStatusListEntry {
  if (!Number.isSafeInteger(at.index) || at.index < 0)
    throw new RangeError(`not a status index: ${at.index}`);
  return {
    id: `${at.credentialUrl}#${at.index}`,
    type: 'BitstringStatusListEntry',
    statusPurpose: 'revocation',
    statusListIndex: String(at.index),
    statusListCredential: at.credentialUrl,
  };
}
