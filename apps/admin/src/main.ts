#!/usr/bin/env node
/** `svc-admin`: what an operator does by hand. The exit code is 0: well, 1: faults were found, 2: could not be told. */
import { parseOptions } from '@svc/cli/options';
import { fsck } from './fsck.ts';
import { keys } from './keys.ts';

const HELP = `svc-admin <command>

  fsck           reads the whole database in one snapshot and proves that it is what it must be: every Receipt and its
                 signature, every closed day and its chain, every status list against the revocations, every artifact
                 against its hash, every count against the Receipts. Nothing is written; the service may be at work.
    --json       one JSON document instead of a report

  keys           lists the keys that the service ever had, and when each was in force

  keys compromise KID
                 the way back when receipt-<n> or status-<n> has leaked: takes it out of its key file, with a new key in
                 front where it was the active one, has every node stop signing with it, publishes that no date under
                 it counts, and signs status lists anew. In the environment of the API; may be repeated.

  --help         this text

DATABASE_URL names the database. Exit codes: 0 no fault, 1 faults (each is named), 2 it could not be read.
`;

const main = async (): Promise<number> => {
  const { positionals, values } = parseOptions(process.argv.slice(2), {
    help: { type: 'boolean' },
    json: { type: 'boolean' },
  });
  if (values.help === true) {
    console.log(HELP);
    return 0;
  }
  const [command, ...rest] = positionals;
  if (command !== 'keys' && (command !== 'fsck' || rest.length > 0)) {
    console.error(`${command === undefined ? 'No command' : `Unknown: ${positionals.join(' ')}`}\n\n${HELP}`);
    return 2;
  }
  const databaseUrl = process.env.DATABASE_URL;
  if (databaseUrl === undefined || databaseUrl === '') {
    console.error('DATABASE_URL is not set: it names the database to check');
    return 2;
  }
  if (command === 'keys') return keys(rest, databaseUrl);
  return fsck(databaseUrl, { isJson: values.json === true });
};

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  },
);
