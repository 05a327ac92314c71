/** `npm run bench [-- NAME]`: starts the named benchmark. Each of them is a program of its own. */
const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  binding: () => import('./binding/binding.ts'),
  budgets: () => import('./budgets/budgets.ts'),
  cold: () => import('./cold/cold.ts'),
  compare: () => import('./compare/compare.ts'),
  day: () => import('./day/day.ts'),
  events: () => import('./events/events.ts'),
  ha: () => import('./ha/up.ts'),
  'ha:disk': () => import('./ha/disk.ts'),
  'ha:overload': () => import('./ha/overload.ts'),
  'ha:test': () => import('./ha/test.ts'),
  ledger: () => import('./ledger/ledger.ts'),
  offline: () => import('./offline/offline.ts'),
  pages: () => import('./pages/pages.ts'),
  peers: () => import('./peers/peers.ts'),
  reports: () => import('./reports/reports.ts'),
  restart: () => import('./restart/restart.ts'),
  revocations: () => import('./revocations/revocations.ts'),
  scale: () => import('./scale/scale.ts'),
  signers: () => import('./signers/signers.ts'),
  walk: () => import('./walk/walk.ts'),
};

const name = process.argv.slice(2).find((arg) => arg !== '--') ?? '';
const program = Object.hasOwn(programs, name) ? programs[name] : undefined;
await (program?.() ?? import('./run.ts'));

export {};
