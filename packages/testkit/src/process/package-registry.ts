/**
 * A package registry on this machine with the packages that the lock file has installed, so that `npm install` runs in
 * full without a network.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const STORE = fileURLToPath(new URL('../../../../node_modules/.pnpm/', import.meta.url));

export interface PackageRegistry {
  readonly url: string;
  close(): Promise<void>;
}

/** The folder of each installed package, by name and version. */
const listInstalled = (): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const all = new Map<string, Map<string, string>>();
  for (const entry of readdirSync(STORE)) {
    const [, written = '', version = ''] = /^(@?[^@]+)@(\d+\.\d+\.\d+[^_(]*)/.exec(entry) ?? [];
    const name = written.replace('+', '/');
    const folder = join(STORE, entry, 'node_modules', name);
    if (name === '' || !existsSync(join(folder, 'package.json'))) continue;
    all.set(name, (all.get(name) ?? new Map()).set(version, folder));
  }
  return all;
};

const byVersion = (left: string, right: string): number => left.localeCompare(right, 'en', { numeric: true });

/** The caller closes it. */
export async function startPackageRegistry(): Promise<PackageRegistry> {
  const installed = listInstalled();
  const server = createServer((request, response) => {
    const [name = '', version] = decodeURIComponent((request.url ?? '').slice(1)).split('/-/');
    const versions = installed.get(name);
    if (versions === undefined) return void response.writeHead(404).end('{}');
    if (version !== undefined) return sendTarball(response, versions.get(version.replace(/\.tgz$/, '')));
    const { port } = server.address() as AddressInfo;
    const described = [...versions].map(([each, folder]) => {
      const manifest: object = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const dist = { tarball: `http://127.0.0.1:${port}/${name}/-/${each}.tgz` };
      return [each, { ...manifest, dist }] as const;
    });
    const latest = [...versions.keys()].sort(byVersion).at(-1);
    const body = { name, 'dist-tags': { latest }, versions: Object.fromEntries(described) };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async () => {
    server.closeAllConnections();
    await once(server.close(), 'close');
  };
  return { url: `http://127.0.0.1:${port}/`, close };
}

const sendTarball = (response: ServerResponse, folder: string | undefined): void => {
  if (folder === undefined) return void response.writeHead(404).end();
  const [name = ''] = folder.split('/').slice(-1);
  // npm leaves out links, and the store links files of equal content to one file.
  const tar = spawn(
    'tar',
    ['-czhf', '-', '--hard-dereference', `--exclude=${name}/node_modules`, '-C', dirname(folder), name],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  tar.stdout.pipe(response);
};
