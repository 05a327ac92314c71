import type { ExportedDecision } from '@svc/service';
import { sampled } from '@svc/testkit/sampled';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { presentOutcome } from '../outcomes.ts';
import { exportCsv } from './export-text.ts';
import { inertCell } from './inert-cell.ts';
import { presentDecisionSummary } from './summary.ts';

const text = fc.string({ unit: 'grapheme' });
const perhaps = <T>(one: fc.Arbitrary<T>) => fc.option(one);
const decision = fc.record({
  ...{
    receiptId: text,
    decision: text,
    reason: perhaps(text),
    evaluatedAtMs: fc.integer({ min: 0, max: 2e12 }),
  },
  ...{ principal: perhaps(text), grantId: perhaps(text), agent: perhaps(text), relyingParty: text },
  ...{ keyId: perhaps(text), actionType: perhaps(text), amount: perhaps(fc.nat()), currency: perhaps(text) },
  ...{ resource: perhaps(text), method: perhaps(text), outcomeChars: fc.nat() },
  receipt: fc.stringMatching(/^ey[\w-]{1,9}\.[\w-]{1,9}\.[\w-]{1,9}$/).map((jws) => Buffer.from(jws)),
}) as unknown as fc.Arbitrary<ExportedDecision['decision']>;
const rows = fc.array(
  decision.map((one) => ({ decision: one, outcomes: [] })),
  { minLength: 1, maxLength: 5 },
);

async function* batchesOf(all: readonly ExportedDecision[]) {
  yield all;
}

it('The CSV export equals that of an independent RFC 4180 writer with all texts quoted, for any cell values', async () => {
  const law = fc.asyncProperty(rows, async (all) => {
    const parts: Uint8Array[] = [];
    for await (const part of exportCsv(batchesOf(all))) parts.push(part);
    const [header = '', ...lines] = Buffer.concat(parts)
      .toString()
      .split(/(?<="\r\n)(?="|$)/);
    const names = header.trimEnd().slice(1, -1).split('","');
    const cells = all.map(({ decision: one, outcomes }) => {
      const summary: Readonly<Record<string, string | number | null>> = presentDecisionSummary(one);
      const stored = {
        ...summary,
        outcomes: JSON.stringify(outcomes.map(presentOutcome)),
        receipt: Buffer.from(one.receipt).toString(),
      };
      return names.map((name) => inertCell(stored[name as keyof typeof stored] ?? null));
    });
    expect(lines.join('')).toBe(stringify(cells, { quoted_string: true, record_delimiter: 'windows' }));
  });
  await fc.assert(law, { numRuns: sampled({ quick: 100, deep: 2_000 }) });
});
