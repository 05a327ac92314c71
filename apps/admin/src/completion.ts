/** `svc-admin completion bash`. */
import type { Program } from '@svc/cli/command-line';
import { completionCommand as completion, completionFor } from '@svc/cli/completion';
import type { Command } from './command.ts';

/** `program`: the program that contains this command. */
export const completionCommand = (program: () => Program<Command>): Command => ({
  ...completion('svc-admin'),
  run: async (_, __, shell) => {
    console.log(completionFor(program(), shell));
    return 0;
  },
});
