/** One named part of something that was checked: right, wrong and why, or not judged, since another part is wrong or for the reasons named. */
export type PartState = 'ok' | 'wrong' | 'unchecked';

export interface Part {
  readonly id: string;
  readonly name: string;
  readonly state: PartState;
  /** What is so when it is right. */
  readonly means: string;
  /** Why it is wrong, or could not be judged. */
  readonly failures: readonly { readonly code: string; readonly message: string }[];
}
