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

const complete = (program: Program<CommandText>, ...words: string[]) => {
  const script = `${completionFor(program, 'bash')}
COMP_WORDS=(${program.name} ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_${program.name.replaceAll('-', '_')}; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return spawnSync('bash', ['-c', script], { encoding: 'utf8', cwd: folder }).stdout.trim().split('\n');
};

const textOf = (program: Program<CommandText>, ...args: string[]): string => {
  const line = readLine(program, args);
  return line.kind === 'help' ? line.text : '';
};

describe.each([RECEIPT, CONFORMANCE])('$name', (program) => {
  it.each(program.commands)(
    'help of $name is about that one alone, and has each of its options',
    (command) => {
      const text = textOf(program, command.name, '--help');
      const shown = [...text.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, option]) => option);
      expect(shown).toEqual(Object.keys(command.options));
      for (const other of program.commands.filter((one) => one !== command))
        expect(text).not.toContain(`${program.name} ${other.name} `);
      expect(textOf(program, '-h', command.name)).toBe(text);
    },
  );

  it('its help names every command', () => {
    for (const { name, gist } of program.commands) {
      expect(textOf(program, '--help').replace(/\s+/g, ' ')).toContain(`${gist}.`);
      expect(textOf(program, '--help')).toContain(name);
    }
  });

  it('the man page is that of the table', () => {
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

it('bash completes commands, options and files', () => {
  expect(complete(RECEIPT, 'mon')).toEqual(['monitor']);
  expect(complete(RECEIPT, 'gra')).toEqual(['grant']);
  expect(complete(RECEIPT, 'monitor', '--re')).toEqual(['--recheck']);
  expect(complete(RECEIPT, 'audit', '--grant', 'gra')).toEqual(['grant']);
  expect(complete(CONFORMANCE, 'r')).toEqual(['run']);
  expect(complete(CONFORMANCE, 'serve', '--p')).toEqual(['--port']);
});

describe('commands of two words', () => {
  const command = (name: string, more: Partial<CommandText> = {}): CommandText => ({
    ...{ name, gist: `Does ${name}`, options: {} },
    ...more,
  });
  const program: Program<CommandText> = {
    name: 'keyring',
    gist: 'Keeps keys',
    commands: [
      command('keys'),
      command('keys add', { operand: 'NAME', options: { now: { text: 'at once' } } }),
      command('lock'),
    ],
    foot: 'Exit code: 0.',
  };
  const read = (...args: string[]) => {
    const line = readLine(program, args);
    return line.kind === 'command' && [line.command.name, line.operands, line.values.now];
  };

  it('the longest that begins the line is meant, wherever its options stand', () => {
    expect(read('keys')).toEqual(['keys', [], false]);
    expect(read('--now', 'keys', 'add', 'a')).toEqual(['keys add', ['a'], true]);
  });

  it('a mistake is answered with the commands that there are', () => {
    const refused = (message: string, hint: RegExp) =>
      expect.objectContaining({ message, hint: expect.stringMatching(hint) });
    expect(() => read()).toThrow(refused('no command is named', /^ {2}keyring keys +Does keys\n/));
    expect(() => read('lokc')).toThrow(refused('there is no command lokc', /^ {2}keyring keys /));
    expect(() => read('keys', 'ad')).toThrow(refused('there is no command keys ad', /^(?!.*lock)/s));
  });

  it('help of the first word is about all that begin with it', () => {
    expect(textOf(program, 'keys', '--help')).toMatch(/keyring keys\n.*keyring keys add NAME \[--now\]/s);
    expect(textOf(program, 'keys', '--help')).not.toContain('keyring lock');
  });

  it('bash completes both words', () => {
    expect(complete(program, 'k')).toEqual(['keys']);
    expect(complete(program, 'keys', 'a')).toEqual(['add']);
    expect(complete(program, 'keys', 'add', '--n')).toEqual(['--now']);
  });
});
