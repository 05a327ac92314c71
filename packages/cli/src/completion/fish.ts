import type { CommandText, Options, Program } from '../command-line.ts';
import { byLength, firstWords, functionName, optionsOf, secondWords, standardOptions } from './words.ts';

export const fishCompletion = (program: Program<CommandText>): string => {
  const name = `_${functionName(program.name)}`;
  const cases = byLength(program).map(
    ({ name: words }) => `    case ${quote(words)} ${quote(`${words} *`)}\n      echo ${quote(words)}`,
  );
  /** A line `complete` that applies if what the user typed, the command or all words, equals `given`. */
  const complete = (what: 'command' | 'words', given: string, rest: string) =>
    `complete -c ${program.name} -n "test (${name}_${what}) = ${quote(given)}" ${rest}`;
  const flags = (command: string, options: Options) =>
    Object.entries(options).map(([option, { text, value, short }]) =>
      complete(
        'command',
        command,
        [
          `-l ${option}`,
          ...(short === undefined ? [] : [`-s ${short}`]),
          ...(value === undefined ? [] : ['-r']),
          `-d ${quote(text)}`,
        ].join(' '),
      ),
    );
  const words = (given: string, all: ReturnType<typeof firstWords>, files: string) =>
    all.map(({ word, gist }) => complete('words', given, `${files}-a ${word} -d ${quote(gist)}`));
  return [
    `function ${name}_words
  set -l words (commandline -opc)
  set -e words[1]
  echo "$words"
end
function ${name}_command
  switch (${name}_words)
${cases.join('\n')}
    case '*'
      echo ''
  end
end`,
    ...words('', firstWords(program), program.standard === undefined ? '-f ' : ''),
    ...[...secondWords(program)].flatMap(([first, seconds]) => words(first, seconds, '-f ')),
    ...flags('', standardOptions(program)),
    ...program.commands.flatMap((command) => flags(command.name, optionsOf(command))),
  ].join('\n');
};

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
