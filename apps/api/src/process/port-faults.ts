/**
 * Tries the two ports before anything else is started, so that a fault is reported at once with the name of its
 * variable.
 */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Config } from '@svc/config';

/** Each port on which the process cannot listen, as a fault of the configuration; empty if it can listen on both. */
export const findPortFaults = async (
  config: Pick<Config, 'host' | 'port' | 'adminHost' | 'adminPort'>,
): Promise<readonly string[]> => {
  const faults = [
    await findFault('API', config.port, config.host),
    await findFault('ADMIN', config.adminPort, config.adminHost),
  ];
  return faults.filter((fault) => fault !== null);
};

/** The variables of each listener. */
const LISTENERS = {
  API: { forHost: 'SVC_HOST', forPort: 'SVC_PORT' },
  ADMIN: { forHost: 'SVC_ADMIN_HOST', forPort: 'SVC_ADMIN_PORT' },
} as const;

type Listener = keyof typeof LISTENERS;

const findFault = async (listener: Listener, port: number, host: string): Promise<string | null> => {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, 'listening');
    return null;
  } catch (error) {
    return explain((error as NodeJS.ErrnoException).code ?? String(error), listener, port, host);
  } finally {
    if (server.listening) {
      server.close();
      await once(server, 'close');
    }
  }
};

const explain = (code: string, listener: Listener, port: number, host: string): string => {
  const { forHost, forPort: variable } = LISTENERS[listener];
  if (code === 'EADDRINUSE')
    return `${variable}: port ${port} is taken; another instance may be running. Set ${variable} to a free port`;
  if (code === 'EACCES') return `${variable}: this user may not listen on port ${port}`;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `${forHost} ${host} cannot be resolved; it is the address to listen on, such as 127.0.0.1 or 0.0.0.0`;
  if (code === 'EADDRNOTAVAIL' || code === 'EINVAL')
    return `${forHost} ${host} is no address of this machine`;
  return `${variable}: cannot listen on ${host}, port ${port} (${code})`;
};
