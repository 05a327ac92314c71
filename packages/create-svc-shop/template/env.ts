/** `.env` of the working folder. Each program reads its settings from it at its start. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

/** The file holds API keys and private keys, so nobody else may read it. Throws if its mode cannot be changed. */
export function keepEnvPrivate(): void {
  if (existsSync('.env') && (statSync('.env').mode & 0o077) !== 0) chmodSync('.env', 0o600);
}

/** Replaces the line with this name, or appends one. `value` must not contain a single quote. */
export function setInEnv(name: string, value: string): void {
  const line = `${name}='${value}'`;
  const lines = readFileSync('.env', 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((one) => one.startsWith(`${name}=`));
  if (at === -1) lines.push(line);
  else lines[at] = line;
  keepEnvPrivate();
  writeFileSync('.env', `${lines.join('\n')}\n`);
}
