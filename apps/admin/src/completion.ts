/** `svc-admin completion bash`, from the table of commands. */
import { UsageError } from '@svc/cli/options';
import type { Command } from './command.ts';

/** `list`: all commands, this one among them. */
export const completionCommand = (list: () => readonly Command[]): Command => ({
  name: 'completion',
  operand: 'SHELL',
  help: 'what makes bash complete these commands: source <(svc-admin completion bash)',
  options: {},
  run: async (_, __, shell) => {
    if (shell !== 'bash') throw new UsageError('completion is there for bash: svc-admin completion bash');
    console.log(bashCompletion(list()));
    return 0;
  },
});

const flagsOf = ({ options }: Command): string =>
  [...Object.keys(options), 'help'].map((name) => `--${name}`).join(' ');

const bashCompletion = (commands: readonly Command[]): string => {
  // The longer name first: `keys create` begins with `keys`.
  const cases = [...commands]
    .sort((left, right) => right.name.length - left.name.length)
    .map((command) => `    "${command.name}"*) options="${flagsOf(command)}" ;;`);
  const firstWords = [...new Set(commands.map(({ name }) => name.split(' ', 1)[0] ?? ''))];
  const seconds = firstWords.map((first) => {
    const words = commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name }) => name.slice(first.length + 1));
    return `    ${first}) words="${words.join(' ')}" ;;`;
  });
  return `_svc_admin() {
  local word=\${COMP_WORDS[COMP_CWORD]} options words
  case "\${COMP_WORDS[*]:1}" in
${cases.join('\n')}
    *) options="--help --version" ;;
  esac
  case \${COMP_WORDS[1]} in
${seconds.join('\n')}
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${firstWords.join(' ')}" -- "$word"))
  elif [[ $COMP_CWORD -eq 2 ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F _svc_admin svc-admin`;
};
