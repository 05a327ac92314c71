import type { ConformanceReport } from '@svc/conformance';
import { expect, it } from 'vitest';
import { fitReport } from './fit-report.ts';

const totals = { cases: 40, passed: 0, failed: 40, unsupported: 0, undecided: 0 };
const failedCase = (id: string) => ({ id, outcome: 'failed' as const, problem: 'ß'.repeat(100) });
const set = (op: 'evaluate' | 'isJti') => ({
  op,
  totals: { ...totals, cases: 20, failed: 20 },
  cases: Array.from({ length: 20 }, (_, i) => failedCase(`${op}-${i}`)),
});
const report: ConformanceReport = {
  contract: 'svc-conformance-http v1',
  status: 'failed',
  error: null,
  vectors: { sha256: 'sha256:', conformance_version: '1' },
  endpoint: null,
  requests: 3,
  duration_ms: 1,
  totals,
  sets: [set('evaluate'), set('isJti')],
};
const whole = Buffer.byteLength(JSON.stringify(report));

it.each([whole, whole - 1, 6000, 4000])(
  'fitReport keeps every id and outcome within %i bytes, and the first cases in full',
  (maxBytes) => {
    const text = fitReport(report, maxBytes);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(maxBytes);
    const { sets, ...rest } = JSON.parse(text) as ConformanceReport;
    expect(rest).toEqual({ ...report, sets: undefined, ...rest });
    const cases = sets.flatMap((one) => one.cases);
    expect(cases.map(({ id, outcome }) => [id, outcome])).toEqual(
      report.sets.flatMap((one) => one.cases.map(({ id, outcome }) => [id, outcome])),
    );
    const full = cases.filter(({ problem }) => problem !== undefined).length;
    expect(full).toBeLessThanOrEqual(40);
    expect(cases.slice(0, full).every(({ problem }) => problem !== undefined)).toBe(true);
    expect(full === 40).toBe(maxBytes === whole);
  },
);
