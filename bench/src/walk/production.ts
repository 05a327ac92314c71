/**
 * A production by somebody new to the project: the blocks of deploy/README.md "By hand", unchanged, in one shell. Only
 * the database's address is inserted.
 */
import { readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { fencedBlocks } from '@svc/testkit/sdk/readme-block';
import type { Place } from './developer.ts';
import { startPostgres } from './postgres.ts';
import type { Steps } from './steps.ts';

const PATH = 'production';
const PAGE = 'deploy/README.md';
const HEADING = '## By hand';
const DATABASE = 'DB=127.0.0.1:5432';
/** Ports of the section's nodes, worker and proxy. */
const PORTS = [8080, 8081, 8443, 9464, 9465, 9466];
/** The blocks, each with its result and what it must have written. */
const BLOCKS = [
  ['built, roles, database, migrated as its owner', /svc may run the service/],
  ['secrets, keys, config check', /It can start\./],
  ['two nodes, a worker and a proxy with TLS are ready', /(?:"ok":true.*){3}/s],
  ['a decision through TLS; one node killed; two more; all of it proven', /(?:ALLOW\s.*){3}No faults\./s],
] as const;

export const walkToProduction = async (steps: Steps, { clone, ports }: Place): Promise<void> => {
  for (const port of PORTS)
    if (await isTaken(port)) throw new Error(`${PAGE} needs port ${port}, which is taken`);
  const [section = ''] = readFileSync(join(clone, PAGE), 'utf8').split(HEADING)[1]?.split(/^## /m) ?? [];
  const blocks = fencedBlocks(section).map(({ code }) => code);
  if (blocks.length !== BLOCKS.length || !blocks[0]?.includes(DATABASE))
    throw new Error(`${PAGE}: ${HEADING} has other blocks than the walk expects`);
  const [port = 0] = ports;
  const server = startPostgres(steps, port);
  try {
    const script = blocks
      .map((code, i) => `${code.replace(DATABASE, `DB=127.0.0.1:${port}`)}echo "${endOf(i)}"\n`)
      .join('')
      .concat('wait\n');
    const shell = steps.open(`bash -euo pipefail -c "$SCRIPT"`, clone, { SCRIPT: script });
    for (const [i, [what, expected]] of BLOCKS.entries()) {
      const output = await steps.time(PATH, what, () => shell.until(endOf(i)));
      if (!expected.test(output)) throw new Error(`${what}:\n${output}`);
    }
    await shell.stop();
  } finally {
    server.stop();
  }
};

const endOf = (block: number): string => `-- end of block ${block + 1} --`;

const isTaken = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('close', () => socket.destroy()).once('connect', () => socket.end());
  });
