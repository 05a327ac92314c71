/**
 * The log of `npm start`: warnings go to the terminal; lines that are logged at any level, such as revocations, to a
 * file.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLogOutput } from '@svc/process';

const WARN = 40;

/** The folder must exist when the first line is written. */
export const openTerminalLog = (dataDir: string): ReturnType<typeof openLogOutput> => {
  const terminal = openLogOutput();
  const file = join(dataDir, 'log.jsonl');
  return {
    ...terminal,
    write(line) {
      const { level } = JSON.parse(line) as { readonly level: number };
      if (level >= WARN) terminal.write(line);
      else appendFileSync(file, line, { mode: 0o600 });
    },
  };
};
