/** The commands of `svc-admin`. Parser, help, man page and completion are derived from this table. */
import type { Program } from '@svc/cli/command-line';
import { clockCommand, clockRepairCommand } from './clock.ts';
import type { Command } from './command.ts';
import { completionCommand } from './completion.ts';
import { configCheckCommand } from './config-check.ts';
import { fenceGiveUpCommand, fenceResetCommand, fenceShowCommand } from './fence.ts';
import { fsckCommand } from './fsck.ts';
import {
  keysCommand,
  keysCreateCommand,
  keysEncryptCommand,
  keysRetireCommand,
  keysRotateCommand,
} from './keys.ts';
import { keysCheckCommand } from './keys-check.ts';
import { keysCompromiseCommand } from './keys-compromise.ts';
import { ledgerDropCommand, ledgerPackCommand, ledgerUnpackCommand, ledgerVerifyCommand } from './ledger.ts';
import { ledgerStatusCommand } from './ledger-status.ts';
import { migrateCommand } from './migrate.ts';
import { pauseCommand, pauseShowCommand, resumeCommand } from './pause.ts';
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
  pauseShowCommand,
  pauseCommand,
  resumeCommand,
  withheldCommand,
  releaseCommand,
  restoreCommand,
  ledgerStatusCommand,
  ledgerPackCommand,
  ledgerUnpackCommand,
  ledgerVerifyCommand,
  ledgerDropCommand,
  serviceDidChangeCommand,
  serviceDidCommand,
  orgCreateCommand,
  orgKeyCommand,
  principalCreateCommand,
  relyingPartyCreateCommand,
  completionCommand(() => PROGRAM),
];

export const PROGRAM: Program<Command> = {
  name: 'svc-admin',
  gist: 'Commands with which an operator works on a deployment’s database',
  commands: COMMANDS,
  foot: `DATABASE_URL names the database, or DATABASE_URL_FILE names a file with that URL. Commands about keys or the fence read the environment
of the API. Exit code: 0 success; 1 something was found, and each finding is named; 2 the command could not determine the result.`,
};
