/** Records every connection that JavaScript opens in this process, at the call below all HTTP and TLS code. */
import { Socket } from 'node:net';

export interface ConnectSpy {
  /** `address:port` (or a pipe's path) of every connect so far, in order. */
  readonly connects: readonly string[];
  clear(): void;
  restore(): void;
}

export const spyOnConnects = (): ConnectSpy => {
  const connects: string[] = [];
  const { connect } = Socket.prototype;
  const spied = function (this: Socket, ...args: unknown[]): Socket {
    connects.push(describe(args));
    return Reflect.apply(connect, this, args) as Socket;
  };
  Socket.prototype.connect = spied as typeof connect;
  return {
    connects,
    clear: () => {
      connects.length = 0;
    },
    restore: () => {
      Socket.prototype.connect = connect;
    },
  };
};

/** net.connect passes its arguments on as one array whose first element holds the options. */
const describe = ([first, second]: readonly unknown[]): string => {
  const options = Array.isArray(first) ? first[0] : first;
  if (typeof options !== 'object' || options === null)
    return `${String(second ?? 'localhost')}:${String(options)}`;
  const { host = 'localhost', port, path } = options as { host?: string; port?: number; path?: string };
  return path === undefined ? `${host}:${String(port)}` : path;
};
