/** `PROGRAM completion bash`: what makes a shell complete its commands, from the table of them. */
import { type CommandText, type Options, type Program, UsageError } from './command-line.ts';

export const completionCommand = (program: string): CommandText => ({
  name: 'completion',
  operand: 'SHELL',
  gist: 'Prints what makes bash complete these commands',
  options: {},
  notes: [`source <(${program} completion bash)`],
});

/** Throws UsageError for another shell than bash. */
export const completionFor = (program: Program<CommandText>, shell: string | undefined): string => {
  if (shell === 'bash') return bashCompletion(program);
  throw new UsageError(`completion is there for bash: ${program.name} completion bash`);
};

const bashCompletion = ({ name: program, commands, standard }: Program<CommandText>): string => {
  const flags = (options: Options) => [...Object.keys(options), 'help'].map((one) => `--${one}`).join(' ');
  // The longer name first: `keys create` begins with `keys`.
  const cases = [...commands]
    .sort((left, right) => right.name.length - left.name.length)
    .map(({ name, options }) => `    "${name}"*) options="${flags(options)}" ;;`);
  const firsts = [...new Set(commands.map(({ name }) => name.split(' ', 1)[0] ?? ''))];
  const seconds = firsts.flatMap((first) => {
    const words = commands.flatMap(({ name }) =>
      name.startsWith(`${first} `) ? [name.slice(first.length + 1)] : [],
    );
    return words.length === 0 ? [] : [`    ${first}) words="${words.join(' ')}" ;;`];
  });
  const call = `_${program.replaceAll('-', '_')}`;
  return `${call}() {
  local word=\${COMP_WORDS[COMP_CWORD]} options words=
  case "\${COMP_WORDS[*]:1}" in
${cases.join('\n')}
    *) options="${flags(standard?.options ?? {})} --version" ;;
  esac
  case \${COMP_WORDS[1]} in
${seconds.join('\n')}
    *) ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${firsts.join(' ')}"${standard === undefined ? '' : ' -f'} -- "$word"))
  elif [[ $COMP_CWORD -eq 2 && -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F ${call} ${program}`;
};
