#!/usr/bin/env node
/** `create-svc-shop FOLDER [--packages FOLDER]`. Exit code 1: refused; 2: not how it is called. */
import { parseArgs } from 'node:util';
import { createShop } from './create.ts';

const USAGE = 'Usage: npm create svc-shop FOLDER [-- --packages FOLDER]';

function readArguments() {
  try {
    const options = { packages: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { ...values, folders: positionals };
  } catch (error) {
    console.error((error as Error).message);
    return null;
  }
}

const given = readArguments();
const [folder = '', ...others] = given?.folders ?? [];
if (given?.help === true) {
  console.log(USAGE);
} else if (given === null || folder === '' || others.length > 0) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  try {
    createShop(folder, given.packages ?? null);
    console.log(`${folder} has a shop (shop.ts), an Agent (agent.ts) and a test of both (shop.test.ts).

  cd ${folder}
  npm install
  npm test          # without a network: the service is in memory

README.md says how to run it against a service.`);
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
