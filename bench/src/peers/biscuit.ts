/** A biscuit with one attenuation. Both blocks are signed; the presenter proves nothing. */
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

/** The library's own limit is a millisecond, which a busy machine may exceed. */
const LIMITS = { max_facts: 1_000, max_iterations: 100, max_time_micro: 1_000_000 };

export async function biscuitPeer(): Promise<Peer> {
  // Imported only here, since it needs --experimental-wasm-modules.
  const { Biscuit, KeyPair } = await import('@biscuit-auth/biscuit-wasm');
  const root = new KeyPair();
  const publicKey = root.getPublicKey();
  const tokens = Array.from({ length: REQUESTS }, (_, i) => {
    const builder = Biscuit.builder();
    builder.addCode(`right("commerce:purchase", "order/", 50000, "USD"); agent(${i});`);
    const block = Biscuit.block_builder();
    block.addCode('check if time($time), $time <= 2100-01-01T00:00:00Z;');
    return builder.build(root.getPrivateKey()).appendBlock(block).toBase64();
  });
  return {
    name: 'biscuit-wasm, one attenuation',
    signatures: 2,
    without: 'proof of possession, revocation, replays, Receipt',
    run: (i) => {
      const token = Biscuit.fromBase64(turnOf(tokens, i), publicKey);
      const authorizer = token.getAuthorizer();
      authorizer.addCode(`
        time(${new Date().toISOString().slice(0, 19)}Z);
        action("commerce:purchase", "order/2026/1001", 42700, "USD");
        allow if action($type, $resource, $amount, $currency), right($type, $prefix, $most, $currency),
          $resource.starts_with($prefix), $amount <= $most;`);
      demand(authorizer.authorizeWithLimits(LIMITS) === 0, 'biscuit: not allowed');
      authorizer.free();
      token.free();
    },
  };
}
