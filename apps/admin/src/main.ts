#!/usr/bin/env node
/** `svc-admin`: what an operator does by hand. The exit code is 0: well, 1: something was found, 2: could not be told. */
import { parseOptions, UsageError } from '@svc/cli/options';
import { programVersion } from '@svc/process';
import { clockCommand, clockRepairCommand } from './clock.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCheckCommand } from './config-check.ts';
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
import { keysCheckCommand } from './keys-check.ts';
import { migrateCommand } from './migrate.ts';
import { restoreCommand } from './restore.ts';
import { serviceDidChangeCommand, serviceDidCommand } from './service-did.ts';
import {
  orgCreateCommand,
  orgKeyCommand,
  principalCreateCommand,
  relyingPartyCreateCommand,
} from './tenants.ts';
import { releaseCommand, withheldCommand } from './withheld.ts';

const COMMANDS: readonly Command[] = [
  fsckCommand,
  migrateCommand,
  keysCompromiseCommand,
  keysCreateCommand,
  keysRotateCommand,
  keysRetireCommand,
  keysEncryptCommand,
  keysCheckCommand,
  keysCommand,
  configCheckCommand,
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
  orgCreateCommand,
  orgKeyCommand,
  principalCreateCommand,
  relyingPartyCreateCommand,
  completionCommand(() => COMMANDS),
];

const indent = (text: string): string => text.replace(/^/gm, '    ');

const usageOf = ({ name, operand }: Command): string =>
  `${name}${operand === undefined ? '' : ` ${operand}`}`;
const describe = (command: Command): string => `  ${usageOf(command)}\n${indent(command.help)}\n`;

const FOOT = `DATABASE_URL names the database, or DATABASE_URL_FILE a file that does; what is about keys or the fence reads the environment
of the API. Exit codes: 0 well, 1 something was found (each is named), 2 it could not be told.
`;

const HELP = `svc-admin <command>

${COMMANDS.map(describe).join('\n')}
  --help       this text; after a command, what is about that one
  --version

${FOOT}`;

/** As far as it can be read by itself. */
const gistOf = ({ help }: Command): string => /^[^.,:;\n]+/.exec(help)?.[0] ?? '';

/** For a mistake: each command in a line. */
const summaryOf = (commands: readonly Command[]): string =>
  `${commands.map((command) => `  svc-admin ${usageOf(command).padEnd(26)} ${gistOf(command)}`).join('\n')}

svc-admin COMMAND --help says more.`;

/** Of those that begin with the words, or of the one that they begin with. */
const helpFor = (words: readonly string[]): string => {
  const name = words.join(' ');
  const group = COMMANDS.filter((one) => one.name === name || one.name.startsWith(`${name} `));
  const exact = findCommand(words);
  const meant = group.length === 0 && exact !== undefined ? [exact] : group;
  if (words.length === 0 || meant.length === 0) return HELP;
  return `${meant.map((command) => `svc-admin ${usageOf(command)}\n${indent(command.help)}\n`).join('\n')}\n${FOOT}`;
};

const findCommand = (words: readonly string[]): Command | undefined =>
  COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '));

const main = async (given: readonly string[]): Promise<number> => {
  const words = given.filter((one) => !one.startsWith('-'));
  if (given.includes('--help')) {
    console.log(helpFor(words));
    return 0;
  }
  if (given.includes('--version')) {
    console.log(programVersion);
    return 0;
  }
  const command = findCommand(words);
  if (command === undefined)
    throw new UsageError(
      `${words.length === 0 ? 'No command' : `Unknown: ${words.join(' ')}`}\n\n${summaryOf(COMMANDS)}`,
    );
  const { positionals, values } = parseOptions(given, command.options);
  const operands = positionals.slice(command.name.split(' ').length);
  const group = COMMANDS.filter(({ name }) => name.startsWith(`${command.name} `));
  if (operands.length > 0 && command.operand === undefined && group.length > 0)
    throw new UsageError(`Unknown: ${words.join(' ')}\n\n${summaryOf([command, ...group])}`);
  if (operands.length !== (command.operand === undefined ? 0 : 1))
    throw new UsageError(`${command.name} takes ${command.operand ?? 'nothing'}\n\n${helpFor(words)}`);
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
