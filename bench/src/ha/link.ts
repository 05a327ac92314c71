/** A network link that can fail: forwards connections from one port to another, until a fault is set. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `silent`: nothing passes and neither side is notified, as when a cable is pulled; what was sent arrives once the link
 * is whole again. `refused`: connections are reset.
 */
export type LinkState = 'whole' | 'silent' | 'refused';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** One side has ended. The other side is notified when the link is whole. */
  isEnded: boolean;
}

/** Networks of 65,536 addresses each, in a range that nothing else uses. This process takes the first free one. */
const FIRST_NETWORK = 9;
const LAST_NETWORK = 63;
/** The network of all links of this process. */
let network: number | null = null;
let lastSource = 0;

/**
 * The server sees each connection from an address of its own, which can be cut off alone. Other suites on this host run
 * faults at the same time.
 */
const nextSource = (): string => {
  network ??= takeNetwork();
  lastSource += 1;
  return `127.${network}.${lastSource >> 8}.${lastSource & 255}`;
};

/** Takes a network by locking its file until the process ends. */
function takeNetwork(): number {
  for (let one = FIRST_NETWORK; one <= LAST_NETWORK; one++) {
    const holder = openSync(join(tmpdir(), `svc-ha-network-${one}`), 'a');
    if (
      spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', holder] }).status === 0
    ) {
      // Routes that a killed process left behind.
      spawnSync('ip', ['route', 'flush', 'table', 'local', 'type', 'blackhole', 'root', `127.${one}.0.0/16`]);
      return one;
    }
    closeSync(holder);
  }
  throw new Error('each network for faults is taken');
}

const route = (verb: 'add' | 'del', address: string) =>
  execFileSync('ip', ['route', verb, 'blackhole', `${address}/32`, 'table', 'local']);

export class Link {
  readonly #pairs = new Set<Pair>();
  readonly #server: Server;
  #state: LinkState = 'whole';
  #source = nextSource();
  /** Addresses that are cut off, and the connections that came from them. */
  readonly #lost = new Map<string, Pair[]>();
  /** Delay in each direction, in milliseconds. */
  delayMs = 0;

  private constructor(private readonly targetPort: number) {
    this.#server = createServer({ pauseOnConnect: true }, (near) => this.#open(near));
  }

  static async open(targetPort: number): Promise<Link> {
    const link = new Link(targetPort);
    link.#server.listen(0, '127.0.0.1');
    await once(link.#server, 'listening');
    return link;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  set(state: LinkState): void {
    this.#state = state;
    for (const pair of this.#pairs) this.#apply(pair);
  }

  /**
   * Drops both ends of each open connection without notice, as a firewall does that loses its state. New connections
   * pass. Needs root.
   */
  lose(): void {
    const source = this.#source;
    route('add', source);
    this.#lost.set(source, [...this.#pairs]);
    this.#forget(() => {});
    this.#source = nextSource();
  }

  /** Closes the server's end of each open connection without notifying the client. New connections pass. */
  leaveHalfOpen(): void {
    this.#forget(({ far }) => far.destroy());
  }

  close(): void {
    for (const [source, pairs] of this.#lost) {
      route('del', source);
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
    }
    this.#lost.clear();
    this.set('refused');
    this.#server.close();
  }

  #forget(end: (pair: Pair) => void): void {
    for (const pair of this.#pairs) {
      this.#pairs.delete(pair);
      pair.near.pause();
      pair.far.pause();
      end(pair);
    }
  }

  #open(near: Socket): void {
    const far = connect({ port: this.targetPort, host: '127.0.0.1', localAddress: this.#source });
    const pair = { near, far, isEnded: false };
    this.#pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      this.#forward(from, to);
      const end = () => {
        pair.isEnded = true;
        this.#apply(pair);
      };
      from.on('error', end).on('close', end);
    }
    this.#apply(pair);
  }

  /** Forwards data in its order, after the delay that is set when it arrives. */
  #forward(from: Socket, to: Socket): void {
    const waiting: Buffer[] = [];
    const passOn = () => {
      const chunk = waiting.shift();
      if (chunk !== undefined && to.writable) to.write(chunk);
    };
    from.on('data', (chunk) => {
      waiting.push(chunk);
      if (this.delayMs === 0 && waiting.length === 1) passOn();
      else setTimeout(passOn, this.delayMs);
    });
    from.pause();
  }

  #apply(pair: Pair): void {
    if (!this.#pairs.has(pair)) return;
    const { near, far } = pair;
    if (this.#state === 'silent') {
      near.pause();
      far.pause();
    } else if (this.#state === 'refused') {
      this.#pairs.delete(pair);
      near.resetAndDestroy();
      far.resetAndDestroy();
    } else if (pair.isEnded) {
      this.#pairs.delete(pair);
      near.destroySoon();
      far.destroySoon();
    } else {
      near.resume();
      far.resume();
    }
  }
}
