// What may import what. No circle, types included; nobody reaches into another package's folder; dependencies point
// inward only (docs/architecture.md).

/** The layers from the inside out: a package may import only those of the lines above it. */
const layers = [
  ['codec', 'embedded-postgres'],
  ['protocol', 'merkle', 'status-list'],
  ['transparency'],
  ['receipts'],
  ['contract', 'service', 'conformance', 'sdk-core'],
  ['signers', 'object-store'],
  ['cold-ledger'],
  ['sdk-principal', 'sdk-rp', 'store-pg', 'outbound', 'fence', 'config', 'cli'],
  ['fsck'],
  ['process', 'testing', 'mcp'],
  ['create-svc-shop'],
];

const tests = '[.]test[.]tsx?$|^[^/]+/[^/]+/(test|scripts)/';
const folderOf = (names) => `^packages/(${names.join('|')})/`;

/** What each layer must not see: its own neighbours, everything further out, and every app. */
const inwardOnly = layers.map((names, i) => ({
  name: `inward-only-${names.join('-')}`,
  severity: 'error',
  from: { path: folderOf(names), pathNot: tests },
  to: { path: `${folderOf(layers.slice(i).flat())}|^apps/`, pathNot: '^packages/$1/' },
}));

export default {
  forbidden: [
    { name: 'no-circle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'through-the-package-name',
      comment: 'Another package is imported by its name, never by a path into its folder.',
      severity: 'error',
      from: { path: '^((?:packages|apps)/[^/]+|bench|examples|vectors|scripts)/' },
      to: {
        path: '^(packages|apps|bench|vectors|scripts)/',
        pathNot: '^$1/',
        dependencyTypes: ['local'],
        dependencyTypesNot: ['aliased'],
      },
    },
    {
      name: 'no-tests-in-products',
      severity: 'error',
      from: { path: '^(packages|apps)/', pathNot: `${tests}|^packages/testkit/|[.]config[.]ts$` },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'apps-apart',
      severity: 'error',
      from: { path: '^apps/([^/]+)/src/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    ...inwardOnly,
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.node.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['svc-source', 'types', 'import', 'default'],
      extensions: ['.ts', '.tsx', '.mjs', '.js', '.json'],
    },
  },
};
