/** The report as JUnit XML, for continuous integration: one suite per op, one test case per vector. */
import type { CaseReport, ConformanceReport, Totals } from '@svc/conformance';

export const junitOf = ({ sets, totals, duration_ms: ms, vectors }: ConformanceReport): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="svc-conformance ${xmlText(vectors.sha256)}" ${countsOf(totals)} time="${(ms / 1000).toFixed(3)}">`,
    ...sets.flatMap(({ op, totals: ofSet, cases }) => [
      `  <testsuite name="${op}" ${countsOf(ofSet)}>`,
      ...cases.map((one) => testCase(op, one)),
      '  </testsuite>',
    ]),
    '</testsuites>',
    '',
  ].join('\n');

const countsOf = ({ cases, failed, undecided, unsupported }: Totals): string =>
  `tests="${cases}" failures="${failed}" errors="${undecided}" skipped="${unsupported}"`;

const testCase = (op: string, { id, outcome, problem = '', description = '' }: CaseReport): string => {
  const open = `    <testcase classname="${op}" name="${xmlText(id)}"`;
  if (outcome === 'passed') return `${open}/>`;
  if (outcome === 'unsupported') return `${open}><skipped/></testcase>`;
  const element = outcome === 'failed' ? 'failure' : 'error';
  return `${open}><${element} message="${xmlText(problem)}">${xmlText(description)}</${element}></testcase>`;
};

const ENTITIES: Readonly<Record<string, string>> = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&quot;' };

/** Replaces characters that XML 1.0 does not allow, and all other control characters, by U+FFFD. */
const xmlText = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
    .replace(/[<>&"]/g, (character) => ENTITIES[character] ?? '');
