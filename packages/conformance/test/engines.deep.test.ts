import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { createHttpTransport, createOwnEngine, readVectorSet, serveConformance } from '../src/node.ts';
import { runConformance } from '../src/run-conformance.ts';
import { INDEPENDENT_SERVER } from './differential/independent-engine.ts';

const vectors = readVectorSet();
const clock = { nowMs: () => performance.now() };
const runAgainst = (url: string) =>
  runConformance({ url, vectors, transport: createHttpTransport(), clock, limits: { requestMs: 60_000 } });

const own = await serveConformance(createOwnEngine());
afterAll(() => own.close());

/** Starts the independent engine in a process of its own. It shares only the contract with ours. */
const startIndependent = async (): Promise<{ url: string; process: ChildProcess }> => {
  const child = spawn(process.execPath, [INDEPENDENT_SERVER, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: String(line).replace(/^.* at /, ''), process: child };
};
const independent = await startIndependent();
afterAll(() => independent.process.kill());

describe.each([
  ['our engine', own.url],
  ['the independent engine', independent.url],
])('%s over HTTP', (_, url) => {
  it('passes every vector with every op and profile, Receipts byte for byte, in at most 50 requests', async () => {
    const report = await runAgainst(url);
    const wrong = report.sets.flatMap(({ cases }) => cases.filter(({ outcome }) => outcome !== 'passed'));
    expect(wrong).toEqual([]);
    expect(report).toMatchObject({
      status: 'passed',
      error: null,
      endpoint: { receipts: true },
      totals: { cases: vectors.cases.length, passed: vectors.cases.length },
      vectors: { sha256: vectors.sha256 },
    });
    expect(report.requests).toBeLessThanOrEqual(50);
  });
});
