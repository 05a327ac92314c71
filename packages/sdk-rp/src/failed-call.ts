/** What is told about a call of `verify` that failed. */
import { SvcError } from '@svc/sdk-core';

/** What `action` returned is no Action. Nothing was sent, and the same request fails again. */
export const isMisdescribed = (error: unknown): boolean =>
  error instanceof SvcError && error.kind === 'invalid-argument';

/** Logs one line without secrets: the message of an unknown error may be secret, so it is left out. */
export function logError(what: string, error: unknown): void {
  const status = error instanceof SvcError && error.status !== null ? ` ${error.status}` : '';
  const told =
    error instanceof SvcError
      ? `${error.kind}${status}: ${error.message}`
      : `${error instanceof Error ? error.name : typeof error}; pass onError to see it`;
  console.error(`[svc] ${what}: ${told.replace(/[\s\p{Cc}]+/gu, ' ')}`);
}
