import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Change, inMemory, perfectAnswer } from '@svc/testkit/conformance/perfect-endpoint';
import { describe, expect, it } from 'vitest';
import { createHttpTransport, readVectorSet } from '../src/node.ts';
import type { ConformanceReport } from '../src/report.ts';
import { runConformance } from '../src/run-conformance.ts';
import type { VectorSet } from '../src/vector-set.ts';
import { type Fault, seedFaults } from './seeded-faults.ts';

const vectors = readVectorSet();
const faults = seedFaults(vectors);
const clock = { nowMs: () => performance.now() };

const changeBy =
  (seeded: readonly Fault[]): Change =>
  (op, id, right) => {
    const fault = seeded.find((one) => one.op === op && one.id === id);
    return fault === undefined ? right : fault.change(right);
  };

const failuresIn = ({ sets }: ConformanceReport) =>
  sets.flatMap(({ op, cases }) =>
    cases
      .filter(({ outcome }) => outcome !== 'passed')
      .map(({ id, outcome, difference }) => `${outcome} ${op} ${id} ${difference?.pointer}`),
  );
const nameOf = ({ op, id, pointer }: Fault) => `failed ${op} ${id} ${pointer}`;

/** The fault's case with its neighbours: enough to see that no other case is blamed. */
const neighbourhoodOf = ({ op, id }: Fault): VectorSet => {
  const ofOp = vectors.cases.filter((one) => one.op === op);
  const at = ofOp.findIndex((one) => one.id === id);
  return { ...vectors, cases: ofOp.slice(Math.max(0, at - 10), at + 11) };
};

describe('a fault seeded in an endpoint', () => {
  it('exists in more than 100 variants, each in a case of its own', () => {
    expect(faults.length).toBeGreaterThan(100);
    expect(new Set(faults.map(({ op, id }) => `${op} ${id}`)).size).toBe(faults.length);
  });

  it.each(faults.map((fault) => [fault.name, fault] as const))('is found: %s', async (_, fault) => {
    const transport = inMemory((text) => perfectAnswer(vectors, text, changeBy([fault])));
    const some = neighbourhoodOf(fault);
    const report = await runConformance({ url: 'https://e.example/', vectors: some, transport, clock });
    expect(report.status).toBe('failed');
    expect(failuresIn(report)).toEqual([nameOf(fault)]);
  });

  it('is found among all others in one run over HTTP, and no other case fails', async () => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      response.end(perfectAnswer(vectors, Buffer.concat(chunks).toString(), changeBy(faults)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const limits = { requestMs: 60_000 };
    const report = await runConformance({ url, vectors, transport: createHttpTransport(), clock, limits });
    server.close();
    expect(failuresIn(report).sort()).toEqual(faults.map(nameOf).sort());
    expect(report.totals).toMatchObject({
      failed: faults.length,
      passed: vectors.cases.length - faults.length,
    });
  });
});
