/** A report within the size that is stored. Each text in it is bounded, so only an endpoint that fails at length gets here. */
import type { ConformanceReport } from '@svc/conformance';

/** What the column takes. */
export const MAX_REPORT_BYTES = 1_048_576;

type Set = ConformanceReport['sets'][number];
type Case = Set['cases'][number];

/** JSON text. Beyond the limit the later cases keep their outcome alone; totals and status stay what they are. */
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
