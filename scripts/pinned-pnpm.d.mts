export interface PinnedPnpm {
  /** For Node to run. */
  readonly program: string;
  readonly binFolder: string;
  isThere(): boolean;
  prepare(): [program: string, parameters: string[]];
}
export function pinnedPnpm(root: string, lock?: string): PinnedPnpm;
