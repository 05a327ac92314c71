/**
 * Connects to an address that was checked before, and to no other: no name is resolved here. Before the first byte is
 * sent, the socket's real remote address is compared. TLS is verified for the host name, whatever the environment says
 * (`NODE_TLS_REJECT_UNAUTHORIZED`).
 */
import { constants } from 'node:crypto';
import net from 'node:net';
import tls from 'node:tls';
import { codeOf, OutboundFault, type UnreachableFault, unreachable } from './answers.ts';
import { BoundedStream } from './bounded-stream.ts';
import type { Endpoint } from './target.ts';

export interface TlsPolicy {
  /** The host of the URL: used for SNI, and the name that the certificate must contain. */
  readonly servername: string;
  /** Trust these certificates (PEM) instead of the system's. */
  readonly ca?: string | undefined;
}

/** Time for one address while there is another one to try. */
const ATTEMPT_MS = 1000;
const MAX_ATTEMPTS = 4;

/**
 * TLS 1.3, and for TLS 1.2 only ECDHE with an AEAD over elliptic curves. With finite-field groups the host could choose
 * how long this process computes, up to a second for each handshake.
 */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE+AESGCM',
  'ECDHE+CHACHA20',
].join(':');
/** Certificate chains have some 4 KB. Each certificate costs CPU time before it is known whether it is valid. */
const HANDSHAKE_BYTES = 32_768;
const GROUPS = 'X25519:P-256:P-384:P-521';

/**
 * Tries the endpoints in order until one accepts a connection. `secure` null: plain TCP, for loopback. `mostBytes`: the
 * bytes that TLS may receive after its handshake; more end the connection.
 */
export const dialFirst = async (
  endpoints: readonly Endpoint[],
  secure: TlsPolicy | null,
  mostBytes: number,
  signal: AbortSignal,
): Promise<net.Socket> => {
  const attempts = endpoints.slice(0, MAX_ATTEMPTS);
  let failure: unknown = new OutboundFault(unreachable('connect', 'nothing to connect to'));
  for (const [i, endpoint] of attempts.entries()) {
    try {
      const socket = await connect(endpoint, i < attempts.length - 1 ? ATTEMPT_MS : null, signal);
      return secure === null ? socket : await encrypt(socket, secure, mostBytes, signal);
    } catch (error) {
      failure = error;
      const refusedToConnect =
        error instanceof OutboundFault &&
        error.answer.kind === 'unreachable' &&
        error.answer.fault === 'connect';
      if (!refusedToConnect || signal.aborted) break;
    }
  }
  throw failure;
};

const connect = async (
  { address, port }: Endpoint,
  attemptMs: number | null,
  signal: AbortSignal,
): Promise<net.Socket> => {
  const family = net.isIP(address);
  // For anything but an address, net.connect would query DNS again.
  if (family === 0) throw new RangeError('an endpoint is an IP address');
  const host = canonical(address, family);
  const socket = net.connect({ host, port, family, autoSelectFamily: false });
  const timer = attemptMs === null ? undefined : setTimeout(() => socket.destroy(timedOut()), attemptMs);
  try {
    await ready(socket, 'connect', 'connect', signal);
  } finally {
    clearTimeout(timer);
  }
  if (socket.remoteAddress !== host || socket.remotePort !== port) {
    socket.destroy();
    throw new OutboundFault(unreachable('connect', 'connected to another address than was checked'));
  }
  return socket;
};

const encrypt = async (
  socket: net.Socket,
  { servername, ca }: TlsPolicy,
  mostBytes: number,
  signal: AbortSignal,
): Promise<tls.TLSSocket> => {
  const stream = new BoundedStream(socket, HANDSHAKE_BYTES);
  const secured = tls.connect({
    socket: stream,
    host: servername,
    servername,
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ecdhCurve: GROUPS,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  secured.once('close', () => stream.destroy());
  await ready(secured, 'secureConnect', 'tls', signal);
  stream.endHandshake(mostBytes);
  return secured;
};

/** The system's spelling of an address, for the comparison with `remoteAddress`. */
const canonical = (address: string, family: number): string =>
  new net.SocketAddress({ address, family: family === 6 ? 'ipv6' : 'ipv4' }).address;

const timedOut = () => new OutboundFault(unreachable('connect', `no connection within ${ATTEMPT_MS} ms`));

/** Waits for `event`. On a failure or an abort the socket is destroyed. */
const ready = (
  socket: net.Socket,
  event: 'connect' | 'secureConnect',
  fault: UnreachableFault,
  signal: AbortSignal,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const settle = (error?: unknown) => {
      signal.removeEventListener('abort', onAbort);
      socket.off('error', onError).off('close', onClose).off(event, onReady);
      if (error === undefined) return resolve();
      socket.on('error', () => {});
      socket.destroy();
      reject(error);
    };
    const onReady = () => settle();
    const onAbort = () => settle(signal.reason);
    const onClose = () => settle(new OutboundFault(unreachable(fault, `${fault}: closed`)));
    const onError = (error: Error) =>
      settle(
        error instanceof OutboundFault
          ? error
          : new OutboundFault(unreachable(fault, `${fault}: ${codeOf(error)}`)),
      );
    socket.on(event, onReady).on('error', onError).on('close', onClose);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
