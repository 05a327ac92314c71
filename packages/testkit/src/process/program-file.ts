/** Where the global setup (programs.ts) has put one of our programs. */
import { join } from 'node:path';
import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of each package's programs, by the folder of the package. */
    programs: Readonly<Record<string, string>>;
  }
}

/** `home` is the package's folder: `apps/api`. */
export function programFile(home: string, name = 'main.js'): string {
  const folder = inject('programs')[home];
  if (folder === undefined) throw new Error(`programs.ts does not list ${home} for this project`);
  return join(folder, name);
}
