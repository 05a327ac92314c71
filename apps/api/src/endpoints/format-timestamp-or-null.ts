import { formatTimestamp } from '@svc/protocol';

export const formatTimestampOrNull = (ms: number | null): string | null =>
  ms === null ? null : formatTimestamp(ms);
