/**
 * A PKCS#11 token in software: SoftHSM, with its objects in a folder of the test. On Debian install it with
 * `apt-get install softhsm2`.
 */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TOOL = '/usr/bin/softhsm2-util';
const MODULES = ['softhsm', 'x86_64-linux-gnu/softhsm', 'aarch64-linux-gnu/softhsm'].map(
  (folder) => `/usr/lib/${folder}/libsofthsm2.so`,
);

/** The library; null where SoftHSM is not installed. */
export const findSoftHsm = (): string | null =>
  existsSync(TOOL) ? (MODULES.find((path) => existsSync(path)) ?? null) : null;

export interface SoftToken {
  /** `pkcs11:token=…?module-path=…&pin-source=…`, with these attributes of a key: `;object=receipt-1`. */
  uri(key?: string): string;
  readonly label: string;
  readonly pinPath: string;
  /** Environment for processes that use the token. */
  readonly env: { readonly SOFTHSM2_CONF: string };
  /** Where the token keeps its objects. */
  readonly folder: string;
  /** Takes the token out of its slot, and puts it back. A library notices only when it is initialised again. */
  take(): void;
  putBack(): void;
  /** Makes every request for a signature wait, until `wake`. */
  freeze(): void;
  wake(): void;
  remove(): void;
}

const objectsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.object') && name !== 'token.object')
    .map((name) => join(folder, name));

/** Creates a token. From then on this process sees it, and no other token. */
export const createSoftToken = (modulePath: string, label = 'svc test'): SoftToken => {
  const home = mkdtempSync(join(tmpdir(), 'svc-token-'));
  const tokens = join(home, 'tokens');
  const env = { SOFTHSM2_CONF: join(home, 'softhsm2.conf') };
  mkdirSync(tokens);
  writeFileSync(
    env.SOFTHSM2_CONF,
    `directories.tokendir = ${tokens}\nobjectstore.backend = file\nlog.level = ERROR\n`,
  );
  const pinPath = join(home, 'pin');
  writeFileSync(pinPath, '2468\n', { mode: 0o600 });
  const options = ['--init-token', '--free', '--label', label, '--pin', '2468', '--so-pin', '13579'];
  execFileSync(TOOL, options, { env: { ...process.env, ...env }, stdio: 'ignore' });
  process.env.SOFTHSM2_CONF = env.SOFTHSM2_CONF;
  const folder = join(tokens, readdirSync(tokens)[0] ?? '');
  return {
    uri: (key = '') =>
      `pkcs11:token=${encodeURIComponent(label)}${key}?module-path=${modulePath}&pin-source=file:${pinPath}`,
    ...{ label, pinPath, env, folder },
    take: () => renameSync(folder, join(home, 'taken')),
    putBack: () => renameSync(join(home, 'taken'), folder),
    freeze: () => {
      // Opening a pipe that has no writer blocks.
      for (const path of objectsIn(folder)) {
        renameSync(path, `${path}.kept`);
        execFileSync('mkfifo', [path]);
      }
    },
    wake: () => {
      for (const path of objectsIn(folder)) {
        renameSync(path, `${path}.pipe`);
        renameSync(`${path}.kept`, path);
        closeSync(openSync(`${path}.pipe`, constants.O_RDWR | constants.O_NONBLOCK));
        rmSync(`${path}.pipe`);
      }
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
};
