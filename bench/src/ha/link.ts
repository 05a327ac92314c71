/** A network link that can be cut: connections to one port go on to another, until they do not. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

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

export class Link {
  readonly #pairs = new Set<Pair>();
  readonly #server: Server;
  #state: LinkState = 'whole';

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

  close(): void {
    this.set('refused');
    this.#server.close();
  }

  #open(near: Socket): void {
    const far = connect({ port: this.targetPort, host: '127.0.0.1' });
    const pair = { near, far, isEnded: false };
    this.#pairs.add(pair);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      const end = () => {
        pair.isEnded = true;
        this.#apply(pair);
      };
      socket.on('error', end).on('close', end);
    }
    this.#apply(pair);
  }

  #apply(pair: Pair): void {
    const { near, far } = pair;
    if (this.#state === 'silent') {
      near.unpipe(far).pause();
      far.unpipe(near).pause();
    } else if (this.#state === 'refused' || pair.isEnded) {
      this.#pairs.delete(pair);
      near.resetAndDestroy();
      far.resetAndDestroy();
    } else if (near.listenerCount('data') === 0) {
      near.pipe(far);
      far.pipe(near);
    }
  }
}
