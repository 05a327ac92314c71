#!/usr/bin/env node
/** `svc-admin`: what an operator does by hand. The exit code is 0: well, 1: something was found, 2: could not be told. */
import { parseOptions, UsageError } from '@svc/cli/options';
import { clockCommand, clockRepairCommand } from './clock.ts';
import type { Command } from './command.ts';
import { fenceGiveUpCommand, fenceResetCommand, fenceShowCommand } from './fence.ts';
import { fsckCommand } from './fsck.ts';
import {
  keysCommand,
  keysCompromiseCommand,
  keysCreateCommand,
  keysEncryptCommand,
  keysRetireCommand,
  keysRotateCommand,
} from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { restoreCommand } from './restore.ts';
import { serviceDidChangeCommand, serviceDidCommand } from './service-did.ts';
import { releaseCommand, withheldCommand } from './withheld.ts';

const COMMANDS: readonly Command[] = [
  fsckCommand,
  migrateCommand,
  keysCompromiseCommand,
  keysCreateCommand,
  keysRotateCommand,
  keysRetireCommand,
  keysEncryptCommand,
  keysCommand,
  clockRepairCommand,
  clockCommand,
  fenceShowCommand,
  fenceResetCommand,
  fenceGiveUpCommand,
  withheldCommand,
  releaseCommand,
  restoreCommand,
  serviceDidChangeCommand,
  serviceDidCommand,
];

const indent = (text: string): string => text.replace(/^/gm, '    ');

const describe = ({ name, operand, help }: Command): string =>
  `  ${name}${operand === undefined ? '' : ` ${operand}`}\n${indent(help)}\n`;

const HELP = `svc-admin <command>

${COMMANDS.map(describe).join('\n')}
  --help       this text

DATABASE_URL names the database, or DATABASE_URL_FILE a file that does; what is about keys or the fence reads the environment
of the API. Exit codes: 0 well, 1 something was found (each is named), 2 it could not be told.
`;

const main = async (given: readonly string[]): Promise<number> => {
  const words = given.filter((one) => !one.startsWith('-'));
  const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));
  if (given.includes('--help')) {
    console.log(HELP);
    return 0;
  }
  if (command === undefined)
    throw new UsageError(`${words.length === 0 ? 'No command' : `Unknown: ${words.join(' ')}`}\n\n${HELP}`);
  const { positionals, values } = parseOptions(given, command.options);
  const operands = positionals.slice(command.name.split(' ').length);
  if (operands.length !== (command.operand === undefined ? 0 : 1))
    throw new UsageError(`${command.name} takes ${command.operand ?? 'nothing'}\n\n${HELP}`);
  return command.run(values, process.env, operands[0] ?? '');
};

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 2;
  },
);
