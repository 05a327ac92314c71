/** Writes `man/svc-receipt.1` from the table of commands. */
import { writeFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { manPage } from '../src/receipt/commands.ts';

writeFileSync(new URL('../man/svc-receipt.1', import.meta.url), manPage(packageJson.version));
