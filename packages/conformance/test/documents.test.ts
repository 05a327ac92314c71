import { readFileSync } from 'node:fs';
import { compile } from '@svc/testkit/conformance/schemas';
import { describe, expect, it } from 'vitest';
import { RUN_LIMITS } from '../src/run-conformance.ts';
import { MAX_ANSWER_BYTES, MAX_CASES, MAX_REQUEST_BYTES, MIN_CASES, MIN_REQUEST_BYTES } from '../src/wire.ts';

const page = readFileSync(new URL('../../../docs/conformance.md', import.meta.url), 'utf8');
const examples = [...page.matchAll(/^```json\n([\s\S]*?)^```/gm)].map(([, json = '']) => JSON.parse(json));

describe('docs/conformance.md', () => {
  it.each(['$defs/request', '$defs/answer', '$defs/answer'].map((name, i) => [name, examples[i]]))(
    'shows a message that conforms to %s',
    (name, message) => {
      const isMessage = compile(`conformance-http.schema.json#/${name}`);
      expect(isMessage(message), JSON.stringify(isMessage.errors)).toBe(true);
    },
  );

  it('shows a report that conforms to its schema', () => {
    const isReport = compile('conformance-report.schema.json');
    expect(examples).toHaveLength(4);
    expect(isReport(examples[3]), JSON.stringify(isReport.errors)).toBe(true);
  });

  it('states every limit', () => {
    const sizes = [MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, MIN_REQUEST_BYTES, MAX_CASES, MIN_CASES];
    for (const size of sizes) expect(page).toContain(size.toLocaleString('en-US'));
    expect(page).toContain(`| requests in a run, \`describe\` included | ${RUN_LIMITS.maxRequests} |`);
    expect(page).toContain(`| a run | ${RUN_LIMITS.runMs / 60_000} minutes |`);
    expect(page).toContain(`| a request, up to the end of its answer | ${RUN_LIMITS.requestMs / 1000} s,`);
  });
});
