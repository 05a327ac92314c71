/**
 * One named part of something that was checked: right, wrong, or not judged, because another part is wrong or for the
 * failures listed.
 */
export type PartState = 'ok' | 'wrong' | 'unchecked';

export interface Part {
  readonly id: string;
  readonly name: string;
  readonly state: PartState;
  /** What holds where the part is right. */
  readonly means: string;
  /** Why it is wrong, or could not be judged. */
  readonly failures: readonly { readonly code: string; readonly message: string }[];
}
