/** Takes turns: each round gives every peer the same time, and counts the CPU that the process used in it. */
import type { Peer } from './peer.ts';

/** Under way together, so that what a library does on other threads is not waited for. */
const AT_ONCE = 8;
/** Until the compiler has settled; a slow peer is given its time. */
const WARM_UP_DECISIONS = 10_000;
const WARM_UP_MS = 8_000;

/** Microseconds of CPU for one decision, all threads of the process together, by peer and round. */
export async function measurePeers(
  peers: readonly Peer[],
  rounds: number,
  turnMs: number,
): Promise<ReadonlyMap<Peer, readonly number[]>> {
  const costs = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  for (const peer of peers) await takeTurn(peer, WARM_UP_MS, WARM_UP_DECISIONS);
  for (let round = 0; round < rounds; round++)
    for (const peer of round % 2 === 0 ? peers : peers.toReversed())
      costs.get(peer)?.push(await takeTurn(peer, turnMs));
  return costs;
}

async function takeTurn(peer: Peer, turnMs: number, atMost = Number.POSITIVE_INFINITY): Promise<number> {
  const endMs = performance.now() + turnMs;
  const before = process.cpuUsage();
  let decisions = 0;
  while (performance.now() < endMs && decisions < atMost) {
    const batch: unknown[] = [];
    for (let i = 0; i < AT_ONCE; i++) batch.push(peer.run(decisions + i));
    await Promise.all(batch);
    decisions += AT_ONCE;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / decisions;
}
