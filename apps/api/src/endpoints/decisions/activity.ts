/** The decisions of a Principal, grouped by what they have in common. */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { Activity } from '@svc/service';

export const presentActivity = ({
  sinceMs,
  untilMs,
  by,
  counted,
  isComplete,
  groupCount,
  groups,
}: Activity): Body<Routes['getPrincipalActivity'], 200> => ({
  since: formatTimestamp(sinceMs),
  until: formatTimestamp(untilMs),
  by,
  counted,
  complete: isComplete,
  groups_total: groupCount,
  groups: groups.map(({ subject, agent, counts, reasons, amounts, firstMs, lastMs }) => ({
    subject,
    agent,
    ...counts,
    reasons: Object.fromEntries(reasons),
    allowed_amounts: Object.fromEntries(amounts),
    first_at: formatTimestamp(firstMs),
    last_at: formatTimestamp(lastMs),
  })),
});
