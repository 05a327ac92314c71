import type { CommandText, Options, Program } from '../command-line.ts';
import { byLength, firstWords, functionName, optionsOf, secondWords, standardOptions } from './words.ts';

export const bashCompletion = (program: Program<CommandText>): string => {
  const flags = (options: Options) => list(Object.keys(options).map((one) => `--${one}`));
  const cases = byLength(program).map(
    (command) => `    "${command.name}"*) options="${flags(optionsOf(command))}" ;;`,
  );
  const seconds = [...secondWords(program)].map(
    ([first, words]) => `    ${first}) words="${list(words.map(({ word }) => word))}" ;;`,
  );
  const firsts = list(firstWords(program).map(({ word }) => word));
  const name = functionName(program.name);
  return `${name}() {
  local word=\${COMP_WORDS[COMP_CWORD]} options words=
  case "\${COMP_WORDS[*]:1}" in
${cases.join('\n')}
    *) options="${flags(standardOptions(program))}" ;;
  esac
  case \${COMP_WORDS[1]} in
${seconds.join('\n')}
    *) ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ $COMP_CWORD -eq 1 ]]; then
    COMPREPLY=($(compgen -W "${firsts}"${program.standard === undefined ? '' : ' -f'} -- "$word"))
  elif [[ $COMP_CWORD -eq 2 && -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}
complete -o filenames -F ${name} ${program.name}`;
};

const list = (words: readonly string[]): string => words.join(' ');
