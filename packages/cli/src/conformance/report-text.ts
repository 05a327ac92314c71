/** The report of `svc-conformance run` for people. */
import type { CaseReport, ConformanceReport, Totals } from '@svc/conformance';
import { line, type Paint, printable } from '../report.ts';

const HEADINGS = {
  passed: ['PASSED', 'green'],
  failed: ['FAILED', 'red'],
  error: ['COULD NOT DECIDE', 'yellow'],
} as const;

const MAX_LISTED = 20;

export const describeReport = (report: ConformanceReport, url: string, paint: Paint): string => {
  const [heading, colour] = HEADINGS[report.status];
  const { endpoint, vectors, error, requests, duration_ms: ms, sets } = report;
  // Vectors that were never sent have the run's own reason, which the report already shows.
  const wrong = sets.flatMap(({ op, cases }) =>
    cases
      .filter(
        ({ outcome, problem }) => outcome === 'failed' || (outcome === 'undecided' && problem !== error),
      )
      .map((one) => describeCase(op, one)),
  );
  const more = wrong.length - MAX_LISTED;
  return [
    paint(heading, colour),
    ...(error === null ? [] : [line('reason', error)]),
    line('endpoint', url),
    ...(endpoint === null ? [] : describeEndpoint(endpoint)),
    line('vectors', `${vectors.conformance_version}, ${vectors.sha256}`),
    ...sets.map(({ op, totals }) => line(op, describeTotals(totals))),
    line('requests', `${requests} in ${(ms / 1000).toFixed(1)} s`),
    ...wrong.slice(0, MAX_LISTED),
    ...(more > 0 ? [`  … and ${more} more; --json lists all`] : []),
  ].join('\n');
};

const describeEndpoint = (endpoint: NonNullable<ConformanceReport['endpoint']>): string[] => [
  line('implementation', `${endpoint.implementation.name} ${endpoint.implementation.version}`),
  line('profiles', endpoint.profiles.join(', ')),
  line('receipts', endpoint.receipts ? 'signed, compared byte for byte' : 'not offered'),
];

const describeTotals = ({ cases, passed, ...others }: Totals): string =>
  [
    `${passed} of ${cases} passed`,
    ...Object.entries(others)
      .filter(([, number]) => number > 0)
      .map(([outcome, number]) => `${number} ${outcome}`),
  ].join(', ');

const describeCase = (op: string, { id, outcome, problem = '', description = '' }: CaseReport): string =>
  `  ${outcome === 'failed' ? '-' : '?'} ${op} ${printable(id)}: ${printable(problem)}\n    (${printable(description)})`;
