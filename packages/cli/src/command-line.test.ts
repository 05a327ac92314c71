import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import packageJson from '../package.json' with { type: 'json' };
import { manPage } from './command-help.ts';
import { type CommandText, type Program, readLine } from './command-line.ts';
import { completionFor } from './completion.ts';
import { PROGRAM as CONFORMANCE } from './conformance/options.ts';
import { PROGRAM as RECEIPT } from './receipt/commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-command-line-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'grant'), '');

/** The completions that a shell offers for the last word of a line. */
type Complete = (program: Program<CommandText>, ...words: string[]) => readonly string[];
const execute = (shell: string, args: readonly string[], script: string) =>
  spawnSync(shell, [...args, script], { encoding: 'utf8', cwd: folder, timeout: 20_000 }).stdout.trim();

const inBash: Complete = (program, ...words) =>
  execute(
    'bash',
    ['-c'],
    `${completionFor(program, 'bash')}
COMP_WORDS=(${program.name} ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_${program.name.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ).split('\n');

const inFish: Complete = (program, ...words) =>
  execute(
    'fish',
    ['--no-config', '-c'],
    `${completionFor(program, 'fish')}
complete -C '${[program.name, ...words].join(' ')}' | string split -f 1 \\t`,
  ).split('\n');

/**
 * On its own terminal, with the files that an interactive shell reads at its start. It completes the line once and
 * ends.
 */
const inZsh: Complete = (program, ...words) => {
  const line = join(folder, 'line');
  const typed = [program.name, ...words].join(' ');
  writeFileSync(
    join(folder, '.zshrc'),
    `autoload -Uz compinit && compinit -u -d '${folder}/.zcompdump'
${completionFor(program, 'zsh')}
zle-line-init() { BUFFER='${typed}'; CURSOR=$#BUFFER; zle complete-word; print -rn -- "$BUFFER" >'${line}'; kill -HUP $$ }
zle -N zle-line-init`,
  );
  const terminal = `export ZDOTDIR='${folder}'; zmodload zsh/zpty; zpty shell 'zsh -i'; while zpty -r shell _; do :; done`;
  execute('zsh', ['-f', '-c'], terminal);
  return readFileSync(line, 'utf8').trim().split(' ').slice(words.length);
};

const textOf = (program: Program<CommandText>, ...args: string[]): string => {
  const line = readLine(program, args);
  return line.kind === 'help' ? line.text : '';
};

describe.each([RECEIPT, CONFORMANCE])('$name', (program) => {
  it.each(program.commands)('the help of $name has each of its options, and no other command', (command) => {
    const text = textOf(program, command.name, '--help');
    const shown = [...text.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, option]) => option);
    expect(shown).toEqual(Object.keys(command.options));
    for (const other of program.commands.filter((one) => one !== command))
      expect(text).not.toContain(`${program.name} ${other.name} `);
    expect(textOf(program, '-h', command.name)).toBe(text);
  });

  it.each(program.commands.filter(({ usage }) => usage !== undefined))(
    'the usage of $name has each of its options',
    ({ usage = [], options }) => {
      for (const option of Object.keys(options)) expect(usage.join(' ')).toContain(`--${option}`);
    },
  );

  it('its help names every command', () => {
    for (const { name, gist } of program.commands) {
      expect(textOf(program, '--help').replace(/\s+/g, ' ')).toContain(`${gist}.`);
      expect(textOf(program, '--help')).toContain(name);
    }
  });

  it('its man page matches the table of commands', () => {
    const file = new URL(`../man/${program.name}.1`, import.meta.url);
    expect(readFileSync(file, 'utf8')).toBe(manPage(program, packageJson.version));
  });

  it('an option of another command is refused by name', () => {
    expect(() => readLine(program, ['completion', 'bash', '--json'])).toThrow(
      'completion has no option --json',
    );
    expect(() => readLine(program, ['completion', '--jsn'])).toThrow('there is no option --jsn');
  });
});

const command = (name: string, more: Partial<CommandText> = {}): CommandText => ({
  ...{ name, gist: `Does ${name}`, options: {} },
  ...more,
});
const KEYRING: Program<CommandText> = {
  name: 'keyring',
  gist: 'Keeps keys',
  commands: [
    command('keys'),
    command('keys add', { operand: 'NAME', options: { now: { text: 'at once' } } }),
    command('lock'),
  ],
  foot: 'Exit code: 0.',
};
const SHELLS: Readonly<Record<string, Complete>> = { bash: inBash, zsh: inZsh, fish: inFish };
const isInstalled = (shell: string) => spawnSync(shell, ['--version']).status === 0;
const shells = Object.keys(SHELLS).filter(isInstalled);
for (const shell of Object.keys(SHELLS).filter((one) => !shells.includes(one)))
  console.log(`SKIPPED: completion in ${shell}, which is not installed`);

describe.each(shells)('completion in %s', { timeout: 60_000 }, (shell) => {
  const complete = SHELLS[shell] as Complete;

  it('completes commands, options and files', () => {
    expect(complete(RECEIPT, 'mon')).toEqual(['monitor']);
    expect(complete(RECEIPT, 'gra')).toEqual(['grant']);
    expect(complete(RECEIPT, 'monitor', '--re')).toEqual(['--recheck']);
    expect(complete(RECEIPT, 'audit', '--grant', 'gra')).toEqual(['grant']);
    expect(complete(CONFORMANCE, 'r')).toEqual(['run']);
    expect(complete(CONFORMANCE, 'serve', '--p')).toEqual(['--port']);
  });

  it('completes the name of the shell', () => {
    expect(complete(CONFORMANCE, 'completion', shell.slice(0, 2))).toEqual([shell]);
  });

  it('completes both words of a two-word command, and its options', () => {
    expect(complete(KEYRING, 'k')).toEqual(['keys']);
    expect(complete(KEYRING, 'keys', 'a')).toEqual(['add']);
    expect(complete(KEYRING, 'keys', 'add', '--n')).toEqual(['--now']);
  });
});

it('completion for an unknown shell is refused with the names of the known ones', () => {
  expect(() => completionFor(RECEIPT, 'tcsh')).toThrow('bash, zsh, fish');
});

describe('two-word commands', () => {
  const read = (...args: string[]) => {
    const line = readLine(KEYRING, args);
    return line.kind === 'command' && [line.command.name, line.operands, line.values.now];
  };

  it('are chosen by the longest match, wherever the options stand', () => {
    expect(read('keys')).toEqual(['keys', [], false]);
    expect(read('--now', 'keys', 'add', 'a')).toEqual(['keys add', ['a'], true]);
  });

  it('are listed in the hint where a command is missing or unknown', () => {
    const refused = (message: string, hint: RegExp) =>
      expect.objectContaining({ message, hint: expect.stringMatching(hint) });
    expect(() => read()).toThrow(refused('no command is named', /^ {2}keyring keys +Does keys\n/));
    expect(() => read('lokc')).toThrow(refused('there is no command lokc', /^ {2}keyring keys /));
    expect(() => read('keys', 'ad')).toThrow(refused('there is no command keys ad', /^(?!.*lock)/s));
  });

  it('are all in the help of their first word', () => {
    expect(textOf(KEYRING, 'keys', '--help')).toMatch(/keyring keys\n.*keyring keys add NAME \[--now\]/s);
    expect(textOf(KEYRING, 'keys', '--help')).not.toContain('keyring lock');
  });
});
