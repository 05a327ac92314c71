/**
 * Measures the peers in turn: each round gives every peer the same time, and counts the CPU that the process used in
 * it.
 */
import type { Peer } from './peer.ts';

/** Decisions under way at once, so that work of a library on other threads does not leave this thread idle. */
const AT_ONCE = 8;
/** Decisions until the compiler has settled. A slow peer warms up for `WARM_UP_MS` only. */
const WARM_UP_DECISIONS = 10_000;
const WARM_UP_MS = 8_000;

/** CPU microseconds for one decision, over all threads of the process, by peer and round. */
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
