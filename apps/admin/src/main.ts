#!/usr/bin/env node
/** `svc-admin`: what an operator does by hand. The exit code is 0: well, 1: faults were found, 2: could not be told. */
import { parseOptions } from '@svc/cli/options';
import { repair, showClock } from './clock.ts';
import { fsck } from './fsck.ts';
import { keys } from './keys.ts';

type Command = (databaseUrl: string, options: { readonly isJson: boolean }) => Promise<number>;

const COMMANDS: Readonly<Record<string, Command>> = { fsck, clock: showClock, 'clock repair': repair };

const HELP = `svc-admin <command>

  fsck           reads the whole database in one snapshot and proves that it is what it must be: every Receipt and its
                 signature, every closed day and its chain, every status list against the revocations, every artifact
                 against its hash, every count against the Receipts. Nothing is written; the service may be at work.
  clock          where the clocks are, and what one that was ahead has sealed, closed or dated too early. Nothing is written
  clock repair   the time is right now: what was sealed or closed too early is undone, and processes that wait for an operator
                 go on. Refused where the clocks of the database and of this machine are over 5 s apart. As the owner of
                 the tables

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
  const [first, ...rest] = positionals;
  const command = COMMANDS[positionals.join(' ')];
  if (first !== 'keys' && command === undefined) {
    const problem = first === undefined ? 'No command' : `Unknown: ${positionals.join(' ')}`;
    console.error(`${problem}\n\n${HELP}`);
    return 2;
  }
  const databaseUrl = process.env.DATABASE_URL;
  if (databaseUrl === undefined || databaseUrl === '') {
    console.error('DATABASE_URL is not set: it names the database');
    return 2;
  }
  return command === undefined
    ? keys(rest, databaseUrl)
    : command(databaseUrl, { isJson: values.json === true });
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
