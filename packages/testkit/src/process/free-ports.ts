/**
 * Ports for servers that must be given theirs before they start. They are below the range that systems use for outgoing
 * connections, since such a connection could take a port after it was found and before its server listens. No two
 * workers of a test run get the same port.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';

const HOST = '127.0.0.1';
const FIRST = 10_000;
const END = 32_000;
/** Each worker takes every sixteenth port. */
const WORKERS = 16;

const worker = Number(process.env.VITEST_POOL_ID ?? process.pid) % WORKERS;
const ownCount = Math.floor((END - FIRST) / WORKERS);
/** Random, so that concurrent runs begin with different ports. */
let taken = Math.floor(Math.random() * ownCount);

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, HOST);
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

/** `count` free ports, all different, and none that was answered recently. */
export async function findFreePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries > ownCount) throw new Error(`no ${count} ports are free from ${FIRST} to ${END}`);
    const port = FIRST + worker + WORKERS * (taken % ownCount);
    taken += 1;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
}

export async function findFreePort(): Promise<number> {
  const [port = 0] = await findFreePorts(1);
  return port;
}
