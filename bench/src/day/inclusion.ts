/** Requests inclusion proofs of the closed day, one at a time. */
import { Agent, request } from 'node:http';
import type { ApiNode } from '../harness/contestants.ts';
import { atMost, type Row } from '../ledger/table.ts';
import { percentile } from '../load/percentile.ts';

const SAMPLES_PER_ADDRESS = 250;

/** Uses many addresses of 127.0.0.0/8, since limits on public routes count by address. */
export async function measureInclusion(node: ApiNode, receiptIds: readonly string[]): Promise<Row> {
  const latencies: number[] = [];
  let agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (const [i, receiptId] of receiptIds.entries()) {
    const localAddress = `127.0.1.${1 + Math.floor(i / SAMPLES_PER_ADDRESS)}`;
    if (i % SAMPLES_PER_ADDRESS === 0) {
      agent.destroy();
      agent = new Agent({ keepAlive: true, maxSockets: 1 });
    }
    latencies.push(await ask(`${node.origin}/decisions/${receiptId}/inclusion`, agent, localAddress));
  }
  agent.destroy();
  const p99 = percentile(latencies, 99);
  return {
    what: 'inclusion proof, p99 ms',
    p50: percentile(latencies, 50).toFixed(1),
    figure: p99.toFixed(1),
    ...atMost(p99, 10),
    note: `${latencies.length} Receipts, each asked once`,
  };
}

const ask = (url: string, agent: Agent, localAddress: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const began = performance.now();
    const sent = request(url, { agent, localAddress }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`GET ${url}: ${response.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end();
  });
