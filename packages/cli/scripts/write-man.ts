/** Writes the man pages from the command tables. */
import { writeFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { manPage } from '../src/command-help.ts';
import { PROGRAM as CONFORMANCE } from '../src/conformance/options.ts';
import { PROGRAM as RECEIPT } from '../src/receipt/commands.ts';

for (const program of [RECEIPT, CONFORMANCE])
  writeFileSync(new URL(`../man/${program.name}.1`, import.meta.url), manPage(program, packageJson.version));
