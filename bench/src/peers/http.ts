/** The same decision over HTTP: this service, which stores every decision, and @ucanto/server, which stores nothing. */
import { join } from 'node:path';
import { findFreePort } from '@svc/testkit/process/free-ports';
import { Message } from '@ucanto/core';
import { ed25519 } from '@ucanto/principal';
import * as CAR from '@ucanto/transport/car';
import autocannon from 'autocannon';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import type { World } from '../fixtures/world.ts';
import { builtProgram, type Place } from '../harness/contestants.ts';
import { CONNECTIONS } from '../harness/loaded.ts';
import { startProgram, waitForHttp } from '../harness/program.ts';
import { demand } from './peer.ts';
import { LIFETIME_SECONDS, purchase } from './ucanto.ts';

const MOST_PER_SECOND = 4_000;
const UCANTO_REQUESTS = 256;

export interface HttpSide {
  readonly name: string;
  readonly without: string;
  /** Returns the answers a second over the given time. */
  load(seconds: number): Promise<number>;
}

interface Load {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly Buffer[];
  readonly isAllowed: (body: string) => boolean;
}

/** Counts only ALLOWs, and throws where there were none. The bodies take turns. */
async function run({ url, headers, bodies, isAllowed }: Load, seconds: number): Promise<number> {
  let next = 0;
  let allowed = 0;
  const others = new Map<string, number>();
  const note = (what: string) => others.set(what, (others.get(what) ?? 0) + 1);
  const result = await autocannon({
    ...{ url, headers: { ...headers }, connections: CONNECTIONS, duration: seconds, method: 'POST' as const },
    requests: [
      {
        setupRequest: (request) => ({ ...request, body: bodies[next++ % bodies.length] ?? '' }),
        onResponse: (status, body) => {
          if (status === 200 && isAllowed(body)) allowed++;
          else note(`${status} ${body.slice(0, 200)}`);
        },
      },
    ],
  });
  for (const [what, count] of others) console.log(`${url} answered other than ALLOW: ${count} × ${what}`);
  demand(allowed > 0, `${url} allowed nothing`);
  return allowed / result.duration;
}

export const ourSide = (url: string, world: World): HttpSide => {
  const requests = new VerifyRequests(world);
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${world.relyingParty.apiKey}`,
  };
  return {
    name: 'ours, each decision stored',
    without: '',
    // A decision spends its Proof, so there is one Proof for each.
    load: (seconds) =>
      run(
        {
          ...{ url, headers, bodies: requests.sign(MOST_PER_SECOND * seconds) },
          isAllowed: (body) => body.includes('"decision":"ALLOW"'),
        },
        seconds,
      ),
  };
};

export async function ucantoSide({ folder, cleanup }: Place): Promise<HttpSide> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const program = startProgram(
    {
      ...{ name: '@ucanto/server', command: [builtProgram('ucanto-server')] },
      ...{ environment: { BENCH_PORT: String(port) }, logFile: join(folder, 'ucanto.log') },
    },
    cleanup,
  );
  await waitForHttp(url, program);
  const did = (await (await fetch(url)).text()) as `did:key:${string}`;
  const principal = await ed25519.generate();
  const bodies: Buffer[] = [];
  let headers: Record<string, string> = {};
  for (let i = 0; i < UCANTO_REQUESTS; i++) {
    const agent = await ed25519.generate();
    const proof = await purchase.delegate({
      ...{ issuer: principal, audience: agent, lifetimeInSeconds: LIFETIME_SECONDS, with: principal.did() },
      nb: { amount: 50_000, currency: 'USD' },
    });
    const invocation = purchase.invoke({
      ...{
        lifetimeInSeconds: LIFETIME_SECONDS,
        issuer: agent,
        audience: { did: () => did },
        with: principal.did(),
        proofs: [proof],
      },
      nb: { amount: 42_700, currency: 'USD' },
    });
    const message = await Message.build({ invocations: [await invocation.delegate()] });
    const request = await CAR.outbound.encode(message);
    bodies.push(Buffer.from(request.body));
    headers = { ...request.headers } as Record<string, string>;
  }
  return {
    name: '@ucanto/server',
    without: 'revocation, replays, storing it',
    load: (seconds) => run({ url, headers, bodies, isAllowed: (body) => body.includes('ALLOW') }, seconds),
  };
}
