#!/usr/bin/env node
/** `create-svc-shop FOLDER [--packages FOLDER]`. Exit code 1: refused; 2: wrong usage. */
import { parseArgs } from 'node:util';
import { createShop } from './create.ts';
import { describeShop, HELP, USAGE } from './texts.ts';

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
  console.log(HELP);
} else if (given === null || folder === '' || others.length > 0) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  try {
    createShop(folder, given.packages ?? null);
    console.log(describeShop(folder, given.packages !== undefined));
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
  }
}
