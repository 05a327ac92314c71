/** The pages of the guide, in the order of its contents: Markdown of this repository, and one page for each code. */
import { readdirSync, readFileSync } from 'node:fs';
import { codePages } from './codes.ts';

export const ROOT = new URL('../../../', import.meta.url);

export interface Source {
  /** Below the root of the service, without a leading slash. */
  readonly address: string;
  readonly section: string;
  /** Its path in the repository; null where the page is made from tables in the code. */
  readonly file: string | null;
  readonly markdown: string;
  /** True where the contents list the page; otherwise only the page of its section does. */
  readonly isListed: boolean;
}

const SECTIONS: readonly (readonly [section: string, files: readonly string[]])[] = [
  ['Guide', ['docs/guide/index.md']],
  ['Start in five minutes', inOrder('start', 'relying-party', 'principal', 'agent', 'operator', 'auditor')],
  [
    'How to',
    [
      ...inOrder('how-to', 'express', 'fastify', 'hono', 'next', 'fetch', 'mcp', 'webhooks', 'pauses'),
      ...inOrder('how-to', 'approvals', 'shared-signals', 'web-bot-auth', 'jose'),
    ],
  ],
  [
    'How it works',
    docs('protocol', 'architecture', 'conformance', 'mcp', 'agent-protocols', 'divergences', 'ledger-format'),
  ],
  [
    'Operation',
    [
      ...docs(
        'operations',
        'runbook',
        'availability',
        'availability-rounds',
        'scale',
        'auditing',
        'releasing',
      ),
      'deploy/README.md',
    ],
  ],
  [
    'Libraries',
    [...readmesIn('packages'), ...readmesIn('kits'), 'apps/admin/README.md', 'vectors/README.md'],
  ],
  ['Work on it', ['CONTRIBUTING.md', 'SECURITY.md', ...docs('testing'), 'bench/README.md']],
  ['Decisions', decisions()],
];

/** Every page. Addresses are stable, since links from outside this repository lead to them. */
export const listSources = (): readonly Source[] => [
  ...SECTIONS.flatMap(([section, files]) =>
    files.map((file) => ({
      address: addressOf(file),
      section,
      file,
      markdown: readFileSync(new URL(file, ROOT), 'utf8'),
      isListed: section !== 'Decisions',
    })),
  ),
  { ...decisionList(), isListed: true },
  ...codePages().map((page) => ({ ...page, section: 'Codes', file: null })),
];

/** `docs/guide/start/agent.md` is at `guide/start/agent`; a README is at the address of its folder. */
function addressOf(file: string): string {
  const name = file
    .replace(/^docs\/(?:guide\/)?|^apps\//, '')
    .replace(/\/README\.md$|\.md$/, '')
    .toLowerCase();
  return name === 'index' ? 'guide' : `guide/${name}`;
}

function inOrder(folder: string, ...names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/guide/${folder}/${name}.md`);
}

function docs(...names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/${name}.md`);
}

function readmesIn(folder: string): readonly string[] {
  return readdirSync(new URL(`${folder}/`, ROOT), { recursive: false })
    .map((name) => `${folder}/${name}/README.md`)
    .filter((file) => readable(file));
}

function readable(file: string): boolean {
  try {
    return readFileSync(new URL(file, ROOT)).length > 0;
  } catch {
    return false;
  }
}

function decisions(): readonly string[] {
  return readdirSync(new URL('docs/decisions/', ROOT))
    .filter((name) => /^\d{4}-.*\.md$/.test(name))
    .sort()
    .map((name) => `docs/decisions/${name}`);
}

/** The list of `docs/decisions`, as a page. */
function decisionList(): Omit<Source, 'isListed'> {
  const index = readFileSync(new URL('docs/decisions/README.md', ROOT), 'utf8');
  const markdown = index.replaceAll(/\]\((?=\d{4}-)/g, '](decisions/');
  return { address: 'guide/decisions', section: 'Decisions', file: 'docs/decisions/', markdown };
}
