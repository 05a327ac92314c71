/** Limits a report to the size that is stored. Each text is bounded, so only reports with many failures are affected. */
import type { ConformanceReport } from '@svc/conformance';

/** The limit of the column. */
const MAX_REPORT_BYTES = 1_048_576;

type Set = ConformanceReport['sets'][number];
type Case = Set['cases'][number];

/** JSON text. Beyond the limit, later cases keep only their outcome; totals and status are unchanged. */
export const fitReport = (report: ConformanceReport, maxBytes = MAX_REPORT_BYTES): string => {
  const whole = JSON.stringify(report);
  const excess = Buffer.byteLength(whole) - maxBytes;
  if (excess <= 0) return whole;
  let saved = 0;
  const shorten = (one: Case): Case => {
    if (saved >= excess) return one;
    const bare = { id: one.id, outcome: one.outcome };
    saved += Buffer.byteLength(JSON.stringify(one)) - Buffer.byteLength(JSON.stringify(bare));
    return bare;
  };
  const sets = report.sets.toReversed().map((set) => ({
    ...set,
    cases: set.cases.toReversed().map(shorten).toReversed(),
  }));
  return JSON.stringify({ ...report, sets: sets.toReversed() });
};
