/**
 * A pg client whose socket can be torn down at once. `end()` alone says goodbye and waits for the server, which
 * never comes from one that is stopped.
 */
import { Socket } from 'node:net';
import pg from 'pg';
import { columnTypes } from './type-parsers.ts';

export class StoreClient extends pg.Client {
  readonly #socket: Socket;

  constructor(config: pg.ClientConfig = {}) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.#socket = socket;
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/**
 * Connection settings shared by all pools. The server's own time-out only tidies up behind a client that gave
 * up: it does nothing against a stopped server, so no caller relies on it.
 */
export function clientConfig(
  databaseUrl: string,
  deadlineMs: number,
  settings: Readonly<Record<string, string>> = {},
): pg.ClientConfig {
  const all = {
    default_transaction_isolation: 'read\\ committed',
    // No statement here runs long enough to be worth compiling, and an estimate that is off by much would have it so.
    jit: 'off',
    ...settings,
  };
  return {
    connectionString: databaseUrl,
    types: columnTypes,
    keepAlive: true,
    application_name: 'svc',
    statement_timeout: deadlineMs,
    idle_in_transaction_session_timeout: deadlineMs,
    options: Object.entries(all)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
  };
}
