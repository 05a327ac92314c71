/** `.env` of the working folder, of which each program reads what it needs at its start. */
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

/** It holds API keys and private keys: nobody else may read it, however it was copied. Throws if it cannot be changed. */
export function keepEnvPrivate(): void {
  if (existsSync('.env') && (statSync('.env').mode & 0o077) !== 0) chmodSync('.env', 0o600);
}

/** In the place of what the name stood for, or at the end. `value` has no single quote. */
export function setInEnv(name: string, value: string): void {
  const line = `${name}='${value}'`;
  const lines = readFileSync('.env', 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((one) => one.startsWith(`${name}=`));
  if (at === -1) lines.push(line);
  else lines[at] = line;
  keepEnvPrivate();
  writeFileSync('.env', `${lines.join('\n')}\n`);
}
