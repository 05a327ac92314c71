/**
 * @ucanto/server behind node:http. Each POST is an invocation in a CAR, executed by a handler that allows it. Prints
 *   nothing, and ends with its parent. Answers a GET with the DID that invocations must name.
 */
import { createServer } from 'node:http';
import { ed25519 } from '@ucanto/principal';
import * as Server from '@ucanto/server';
import * as CAR from '@ucanto/transport/car';
import { endWithParent } from '../fixtures/program-environment.ts';
import { purchase } from './ucanto.ts';

endWithParent();
const id = await ed25519.generate();
const server = Server.create({
  id,
  codec: CAR.inbound,
  service: { commerce: { purchase: Server.provide(purchase, () => ({ ok: { decision: 'ALLOW' } })) } },
  validateAuthorization: () => ({ ok: {} }),
});

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', async () => {
    if (request.method !== 'POST') {
      response.end(id.did());
      return;
    }
    const body = Buffer.concat(chunks);
    const answer = await server.request({ body, headers: request.headers as Record<string, string> });
    response.writeHead(answer.status ?? 200, { ...answer.headers });
    response.end(answer.body);
  });
}).listen(Number(process.env.BENCH_PORT), '127.0.0.1');
