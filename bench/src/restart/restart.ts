/**
 * `npm run bench -- restart`: 200 verifications of `@svc/sdk-rp` across a restart of the only API process, which is
 * ended with SIGTERM and started again a second later. Ends with 1 when one is lost.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createPrincipalClient, generatePrincipalKey, purchase, signerFromJwk } from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey, signProof } from '@svc/sdk-principal/agent';
import { createVerifier, SvcError } from '@svc/sdk-rp';
import { type ApiNode, startApiNode } from '../harness/contestants.ts';
import { startDatabase } from '../harness/database.ts';
import { readMainOptions } from '../harness/options.ts';
import { describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { percentile } from '../load/percentile.ts';

const CALLS = 200;
const EVERY_MS = 20;
/** Calls before the process is told to end. */
const BEFORE = 50;
const DOWN_MS = 1_000;

const request = { method: 'POST', url: 'https://shop.example/orders' } as const;
const action = { type: 'commerce:purchase', resource: 'order/7', amount: 42_700, currency: 'USD' } as const;

/** Returns a function that makes a call; it signs the Proof when it is called. */
async function prepare({ origin, adminToken }: ApiNode): Promise<() => Promise<string>> {
  const register = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { readonly did: string; readonly api_key: string };
  };
  const key = await generatePrincipalKey();
  const acme = await register('/principals', { kind: 'managed', slug: 'acme', keys: [key.registration] });
  const shop = await register('/relying-parties', { kind: 'managed', slug: 'shop' });
  const signer = signerFromJwk(key.privateJwk, `${acme.did}#key-1`);
  const client = createPrincipalClient({ baseUrl: origin, apiKey: acme.api_key, signer });
  const agent = agentFromJwk((await generateAgentKey()).privateJwk);
  const capabilities = [purchase({ maxAmountMinor: 50_000, currency: 'USD', resources: ['order/*'] })];
  const { grant, grantId } = await client.grants.issue({ agent: agent.did, capabilities });
  const { id: serviceDid } = (await (await fetch(`${origin}/.well-known/did.json`)).json()) as { id: string };
  const options = { baseUrl: origin, apiKey: shop.api_key, serviceDid, relyingParty: shop.did };
  const verifier = createVerifier(options);
  await verifier.ready();
  return async () => {
    const proof = await signProof({ agent, grantId, audience: shop.did, ...request, action });
    return (await verifier.verify({ grant, proof, action, request })).decision;
  };
}

const { api } = readMainOptions('restart');
await runBenchmark(async ({ place }) => {
  const { folder, cleanup } = place;
  console.log(describeMachine());
  const database = await startDatabase(join(folder, 'database'), cleanup);
  const node = await startApiNode(place, { name: 'svc', api, databaseUrl: database.url });
  const verify = await prepare(node);
  const tookMs: number[] = [];
  const lost = new Map<string, number>();
  const call = async () => {
    const beganMs = performance.now();
    const outcome = await verify().catch((error) => (error instanceof SvcError ? error.kind : String(error)));
    tookMs.push(performance.now() - beganMs);
    if (outcome !== 'ALLOW') lost.set(outcome, (lost.get(outcome) ?? 0) + 1);
  };
  let downMs = 0;
  const restart = async () => {
    await node.stop();
    const endedMs = performance.now();
    await delay(DOWN_MS);
    await node.restart();
    downMs = performance.now() - endedMs;
  };
  const calls: Promise<void>[] = [];
  let restarted: Promise<unknown> = Promise.resolve();
  for (let i = 0; i < CALLS; i++) {
    if (i === BEFORE) restarted = restart().catch((problem: unknown) => problem);
    calls.push(call());
    await delay(EVERY_MS);
  }
  await Promise.all(calls);
  const problem = await restarted;
  if (problem !== undefined) throw problem;
  const all = [...lost].map(([outcome, count]) => `${count} ${outcome}`).join(', ');
  console.log(
    `nobody was there for ${(downMs / 1_000).toFixed(1)} s; ${CALLS} calls, one each ${EVERY_MS} ms: ${CALLS - sum(lost)} ALLOW` +
      `${all === '' ? ', none lost' : `, lost: ${all}`}; p50 ${percentile(tookMs, 50).toFixed(0)} ms, longest ${Math.max(...tookMs).toFixed(0)} ms`,
  );
  if (lost.size > 0) process.exitCode = 1;
});

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((all, one) => all + one, 0);
}
