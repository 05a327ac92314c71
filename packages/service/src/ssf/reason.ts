/** Says for people why a stream is paused or disabled. */
import { DISABLED_AFTER_DAYS } from '../events/post.ts';
import type { StreamRecord } from '../ports/streams.ts';

/** Maximum length, the same as of a reason that the owner gives. */
const REASON_CHARS = 100;

/** The reason; null when nobody gave one. */
export const reasonOf = ({
  reason,
  disabledBecause,
  lastProblem,
}: Pick<StreamRecord, 'reason' | 'disabledBecause' | 'lastProblem'>): string | null => {
  if (disabledBecause === 'gone') return 'endpoint_url answered 410';
  if (disabledBecause !== 'failing') return reason;
  const text = `no SET was taken for ${DISABLED_AFTER_DAYS} days; ${lastProblem ?? 'no answer'}`;
  return [...text].slice(0, REASON_CHARS).join('');
};
