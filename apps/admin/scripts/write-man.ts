/** Writes the man page from the table of commands. */
import { writeFileSync } from 'node:fs';
import { manPage } from '@svc/cli/command-help';
import packageJson from '../package.json' with { type: 'json' };
import { PROGRAM } from '../src/program.ts';

writeFileSync(new URL('../man/svc-admin.1', import.meta.url), manPage(PROGRAM, packageJson.version));
