/** `PROGRAM completion SHELL`: prints a script with which the shell completes the program's commands. */
import { type CommandText, type Program, UsageError } from './command-line.ts';
import { bashCompletion } from './completion/bash.ts';
import { fishCompletion } from './completion/fish.ts';
import { zshCompletion } from './completion/zsh.ts';

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const completionCommand = (program: string): CommandText => ({
  name: 'completion',
  operand: 'SHELL',
  choices: Object.keys(SHELLS),
  gist: 'Prints the script with which bash, zsh or fish completes these commands',
  options: {},
  notes: [
    `bash: source <(${program} completion bash)`,
    `zsh, after compinit: source <(${program} completion zsh)`,
    `fish: ${program} completion fish | source`,
  ],
});

/** Throws UsageError for an unsupported shell. */
export const completionFor = (program: Program<CommandText>, shell = ''): string => {
  if (Object.hasOwn(SHELLS, shell)) return SHELLS[shell as keyof typeof SHELLS](program);
  const shells = Object.keys(SHELLS).join(', ');
  throw new UsageError(`completion is for one of ${shells}, as in ${program.name} completion bash`);
};
