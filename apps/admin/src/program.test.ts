import { readFileSync } from 'node:fs';
import { manPage } from '@svc/cli/command-help';
import { readLine } from '@svc/cli/command-line';
import { expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { runCommand } from '../test/run-command.ts';
import { PROGRAM } from './program.ts';

it('the man page is the one generated from the command table', () => {
  const file = new URL('../man/svc-admin.1', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(manPage(PROGRAM, packageJson.version));
});

it.each(PROGRAM.commands)(
  '$name is found by its words, and its help lists each of its options',
  (command) => {
    const { name, operand, options } = command;
    const operands = operand === undefined ? [] : ['x'];
    expect(readLine(PROGRAM, [...name.split(' '), ...operands])).toMatchObject({ command, operands });
    const help = readLine(PROGRAM, [...name.split(' '), '-h']);
    for (const option of Object.keys(options))
      expect(help).toMatchObject({ text: expect.stringMatching(new RegExp(`^  --${option}\\b`, 'm')) });
  },
);

it('an option takes a value in all commands that have it, or in none', () => {
  const all = PROGRAM.commands.flatMap(({ options }) => Object.entries(options));
  const kinds = new Map(all.map(([name, { value, many }]) => [name, [value === undefined, many]]));
  for (const [name, { value, many }] of all)
    expect([name, value === undefined, many]).toEqual([name, ...(kinds.get(name) ?? [])]);
});

it('an error begins with the name of the program, and that of a command line ends with how to get help', async () => {
  const told = async (...words: string[]) => (await runCommand(words, {})).err;
  expect(await told('fsck', '--al')).toMatch(/^svc-admin: .*--al.*\nTry svc-admin --help\.\n$/);
  expect(await told('fsck', 'all')).toBe('svc-admin: fsck takes no argument\n\nTry svc-admin fsck --help.\n');
  expect(await told('fsck')).toMatch(/^svc-admin: .*DATABASE_URL/);
});

it('a wrong command is refused with a list of commands, and within a group with those of the group', () => {
  const hint = (...words: string[]) => {
    try {
      readLine(PROGRAM, words);
      return null;
    } catch (error) {
      return [(error as Error).message, (error as { hint?: string }).hint];
    }
  };
  expect(hint('kesy')).toEqual([
    expect.stringContaining('there is no command kesy'),
    expect.stringContaining('svc-admin keys rotate KID'),
  ]);
  expect(hint('keys', 'new', 'receipt')).toEqual([
    'there is no command keys new receipt',
    expect.stringMatching(/^(?: {2}svc-admin keys.*\n)+\nsvc-admin COMMAND/),
  ]);
  for (const words of [['principal'], ['principal', 'crate']])
    expect(hint(...words)).toEqual([
      `there is no command ${words.join(' ')}`,
      expect.stringMatching(/^(?: {2}svc-admin principal .*\n)+\nsvc-admin COMMAND/),
    ]);
  expect(readLine(PROGRAM, ['keys', '--help'])).toMatchObject({
    text: expect.stringContaining('svc-admin keys rotate KID'),
  });
  const rotate = readLine(PROGRAM, ['keys', 'rotate', 'receipt-1', '--help']);
  expect(rotate).toMatchObject({ text: expect.stringContaining('svc-admin keys rotate KID') });
  expect(rotate).not.toMatchObject({ text: expect.stringMatching(/fsck|keys create/) });
});
