/** A network link that can fail: connections to one port go on to another, until they do not. */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * `silent`: nothing passes and nobody is told, as when a cable is pulled; what was sent arrives once it is whole again.
 * `refused`: connections are reset.
 */
export type LinkState = 'whole' | 'silent' | 'refused';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** One side has ended. The other hears of it when the link is whole. */
  isEnded: boolean;
}

/** Networks of 65,536 addresses each, in a range that nothing else uses; the first free one is this process's. */
const FIRST_NETWORK = 9;
const LAST_NETWORK = 63;
/** The network of all links of this process. */
let network: number | null = null;
let lastSource = 0;

/**
 * The server sees each connection from an address that can be cut off by itself. Others on this host run faults at the
 * same time.
 */
const nextSource = (): string => {
  network ??= takeNetwork();
  lastSource += 1;
  return `127.${network}.${lastSource >> 8}.${lastSource & 255}`;
};

/** Takes a network by locking its file, for as long as the process lasts. */
function takeNetwork(): number {
  for (let one = FIRST_NETWORK; one <= LAST_NETWORK; one++) {
    const holder = openSync(join(tmpdir(), `svc-ha-network-${one}`), 'a');
    if (
      spawnSync('flock', ['--nonblock', '3'], { stdio: ['ignore', 'ignore', 'ignore', holder] }).status === 0
    ) {
      // What one that was killed left behind.
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
  /** Addresses that nothing reaches any more, and who came from them. */
  readonly #lost = new Map<string, Pair[]>();
  /** Each way. */
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

  /** Both ends of each open connection are lost without a word, as where a firewall forgets them. New ones pass. Takes root. */
  lose(): void {
    const source = this.#source;
    route('add', source);
    this.#lost.set(source, [...this.#pairs]);
    this.#forget(() => {});
    this.#source = nextSource();
  }

  /** The server's end of each open connection is closed, and the client is not told. New ones pass. */
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

  /** What comes goes on after the delay there is then, in its order. */
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
