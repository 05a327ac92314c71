/** The two generated files: what the client libraries read, as types and as readers, from one contract. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import * as read from '../src/read.ts';
import { declarationOf as readerDeclarationOf } from './reader-text.ts';
import { BRANDS, get, reachable, type Schemas } from './schema.ts';
import { declarationOf as typeDeclarationOf } from './type-text.ts';

/** The records that the libraries read. The records to which these refer are added automatically. */
export const RECORDS = [
  'AccessRequest',
  'AccessRequestList',
  'Agent',
  'AgentDisabled',
  'ApiKeyIssued',
  'ApiKeyList',
  'ApiKeyRevoked',
  'Attestation',
  'AuditList',
  'Decision',
  'DecisionExportRow',
  'DecisionList',
  'DecisionStats',
  'DryRun',
  'EventDeliveryList',
  'EventPing',
  'EventSubscription',
  'EventSubscriptionCreated',
  'EventSubscriptionDeleted',
  'EventSubscriptionList',
  'EventSubscriptionRotated',
  'GrantAllocation',
  'GrantConsumption',
  'GrantList',
  'KeyCompromised',
  'KeyRetired',
  'Pause',
  'PauseList',
  'Resumed',
  'Me',
  'Principal',
  'PrincipalActivity',
  'PrincipalDirectory',
  'RelyingParty',
  'RevokeResponse',
  'Usage',
] as const;

/** What callers pass to the libraries in wire form. */
const REQUESTS = ['OutcomeEvent'] as const;

const HEADER =
  '/** Generated from the contract by `npm run --prefix packages/sdk-core generate`. Do not edit. */\n';

/** The text of `src/wire.generated.ts`. */
export function typesText(schemas: Schemas, roots: readonly string[] = [...RECORDS, ...REQUESTS]): string {
  const names = reachable(schemas, roots).sort();
  const body = names.map((name) => typeDeclarationOf(name, get(schemas, name))).join('');
  const imports = importOf('type ', [...BRANDS, 'JsonObject'], '@svc/protocol', body);
  return formatted(`${HEADER}${imports}\n${body}`);
}

/** The text of `src/readers.generated.ts`. */
export function readersText(schemas: Schemas, roots: readonly string[] = RECORDS): string {
  const names = reachable(schemas, roots);
  const body = names.map((name) => readerDeclarationOf(name, get(schemas, name))).join('');
  const functions = importOf('', READ, './read.ts', body);
  const imports = READER + functions + importOf('type ', names, './wire.generated.ts', body);
  return formatted(`${HEADER}${imports}\n${body}`);
}

const READ = Object.keys(read);
const READER = "import type { Reader } from './read.ts';\n";

function importOf(kind: string, names: readonly string[], from: string, body: string): string {
  const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(body));
  return used.length === 0 ? '' : `import ${kind}{ ${used.sort().join(', ')} } from '${from}';\n`;
}

/** Formatted like the rest of the tree. */
function formatted(source: string): string {
  const biome = createRequire(import.meta.url).resolve('@biomejs/biome/bin/biome');
  const run = spawnSync(process.execPath, [biome, 'format', '--stdin-file-path=generated.ts'], {
    input: source,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`the generated text cannot be formatted: ${run.stderr}`);
  return run.stdout;
}
