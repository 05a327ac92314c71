/** The log of `npm start`: warnings where the person is, and what is logged at any level, such as revocations, in a file. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { openLogOutput } from '@svc/process';

const WARN = 40;

/** The folder must be there by the first line. */
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
