import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { createShop } from './create.ts';
import { describeShop, HELP } from './texts.ts';

const scratch = mkdtempSync(join(tmpdir(), 'svc-create-'));
afterAll(() => rmSync(scratch, { recursive: true }));

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const read = (file: string | URL) => JSON.parse(readFileSync(file, 'utf8')) as Manifest;
const pinsOf = ({ dependencies, devDependencies }: Manifest) => ({ ...dependencies, ...devDependencies });

it('a project pins our packages at this version, and others at the versions tested with it', () => {
  const folder = join(scratch, 'shop');
  createShop(folder);
  const own = read(new URL('../package.json', import.meta.url));
  const tested = { ...pinsOf(read(new URL('../../../package.json', import.meta.url))), ...pinsOf(own) };
  const pins = pinsOf(read(join(folder, 'package.json')));
  expect(Object.keys(pins).length).toBeGreaterThan(7);
  for (const [name, version] of Object.entries(pins))
    expect([name, version]).toEqual([name, name.startsWith('@svc/') ? own.version : tested[name]]);
  expect(readdirSync(folder)).toEqual(
    expect.arrayContaining(['.gitignore', 'shop.ts', 'agent.ts', 'shop.test.ts']),
  );
});

it('createShop refuses an existing file and missing packages before it writes anything', () => {
  const file = join(scratch, 'file');
  writeFileSync(file, '');
  expect(() => createShop(file)).toThrow('not empty');
  const folder = join(scratch, 'other');
  expect(() => createShop(folder, scratch)).toThrow('npm run pack');
  expect(readdirSync(scratch)).not.toContain('other');
});

it('the text says that our packages are on no registry where --packages was not given', () => {
  expect(HELP).toMatch(/^ {2}--packages FOLDER .*npm run pack/m);
  expect(describeShop('my-shop', false)).toMatch(/npm install does not find them.*--packages FOLDER/);
  expect(describeShop('my-shop', true)).not.toContain('registry');
});

it('the printed cd command quotes the folder where its name needs it', () => {
  const cdOf = (folder: string) => /^ {2}cd (.*)$/m.exec(describeShop(folder, true))?.[1];
  expect(cdOf('shops/my-shop')).toBe('shops/my-shop');
  expect(cdOf("Bad Name! it's")).toBe("'Bad Name! it'\\''s'");
});
