/** `.env` of the working folder, of which each program reads what it needs at its start. */
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';

/** In the place of what the name stood for, or at the end. `value` has no single quote. */
export function setInEnv(name: string, value: string): void {
  const line = `${name}='${value}'`;
  const lines = readFileSync('.env', 'utf8').trimEnd().split('\n');
  const at = lines.findIndex((one) => one.startsWith(`${name}=`));
  if (at === -1) lines.push(line);
  else lines[at] = line;
  // It holds private keys.
  chmodSync('.env', 0o600);
  writeFileSync('.env', `${lines.join('\n')}\n`);
}
