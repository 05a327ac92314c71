import type { CommandText, Options, Program } from '../command-line.ts';
import {
  byLength,
  firstWords,
  functionName,
  optionsOf,
  secondWords,
  standardOptions,
  type Word,
} from './words.ts';

/** For sourcing after `compinit`, or for a file `_PROGRAM` in `$fpath`. */
export const zshCompletion = (program: Program<CommandText>): string => {
  const cases = byLength(program).map(
    (command) => `    ${quote(command.name)}*) options=(${flags(optionsOf(command))}) ;;`,
  );
  const seconds = [...secondWords(program)].map(
    ([first, words]) => `    ${first}) seconds=(${list(words)}) ;;`,
  );
  const name = functionName(program.name);
  return `#compdef ${program.name}
${name}() {
  local -a options firsts seconds
  firsts=(${list(firstWords(program))})
  case "\${words[2,-1]}" in
${cases.join('\n')}
    *) options=(${flags(standardOptions(program))}) ;;
  esac
  case "\${words[2]}" in
${seconds.join('\n')}
    *) ;;
  esac
  if [[ $PREFIX == -* ]]; then
    _describe option options
  elif (( CURRENT == 2 )); then
    _describe command firsts${program.standard === undefined ? '' : '\n    _files'}
  elif (( CURRENT == 3 && $#seconds )); then
    _describe argument seconds
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _${program.name} ]]; then
  ${name} "$@"
else
  compdef ${name} ${program.name}
fi`;
};

const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const list = (words: readonly Word[]): string =>
  words.map(({ word, gist }) => quote(gist === '' ? word : `${word}:${gist}`)).join(' ');

const flags = (options: Options): string =>
  list(Object.entries(options).map(([name, { text }]) => ({ word: `--${name}`, gist: text })));
