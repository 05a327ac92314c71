/**
 * The report for people. What the endpoint sent may have been written to deceive: control and format characters are
 * escaped, so that it can neither move the cursor nor pass for a line of ours.
 */
import type { CaseReport, ConformanceReport, Totals } from '@svc/conformance';

/** Paints text; leaves it as it is where colours are not wanted. */
export type Paint = (text: string, colour: 'green' | 'red' | 'yellow') => string;

const CODES = { green: 32, red: 31, yellow: 33 } as const;

export const painter =
  (colours: boolean): Paint =>
  (text, colour) =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/** Escapes every control, format, surrogate and private character, line breaks included. */
export const printable = (text: string): string =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

const HEADINGS = {
  passed: ['PASSED', 'green'],
  failed: ['FAILED', 'red'],
  error: ['COULD NOT DECIDE', 'yellow'],
} as const;

const MAX_LISTED = 20;

const line = (label: string, text: string): string => `  ${label.padEnd(14)} ${printable(text)}`;

export const describeReport = (report: ConformanceReport, url: string, paint: Paint): string => {
  const [heading, colour] = HEADINGS[report.status];
  const { endpoint, vectors, error, requests, duration_ms: ms, sets } = report;
  // What was not asked at all has the run's own reason, which stands above.
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
