// Runs a command from its build, which `npm run build` makes: run-built.mjs <file> <parameters>
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [file] = process.argv.splice(2, 1);
const built = resolve(file);
if (existsSync(built)) await import(pathToFileURL(built).href);
else {
  console.error(`${file} is not built yet: npm run build`);
  process.exitCode = 2;
}
