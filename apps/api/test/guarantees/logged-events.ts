/** The log events of our programs, read from their sources: each log call with the names of its fields. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

export interface LoggedEvent {
  readonly event: string;
  readonly fields: readonly string[];
}

const ROOT = new URL('../../../../', import.meta.url);
const PACKAGES = ['service', 'process', 'store-pg', 'cold-ledger', 'outbound', 'fence'].map(
  (name) => `packages/${name}/src/`,
);
const PROGRAMS = ['api', 'worker', 'conformance-runner'].map((name) => `apps/${name}/src/`);
/** Other sources are not parsed. */
const MAY_LOG = /\b(?:log|logger|accessLog|orWarn)\b/;
const METHODS = new Set(['info', 'warn', 'error', 'fatal', 'orWarn']);

let listed: readonly LoggedEvent[] | undefined;
export const listLoggedEvents = (): readonly LoggedEvent[] => {
  listed ??= [...PACKAGES, ...PROGRAMS]
    .flatMap(sourcesIn)
    .map((path) => readFileSync(path, 'utf8'))
    .filter((source) => MAY_LOG.test(source))
    .flatMap(eventsIn);
  return listed;
};

const sourcesIn = (folder: string): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => fileURLToPath(new URL(`${folder}${name}`, ROOT)));

const eventsIn = (source: string): LoggedEvent[] => {
  const events: LoggedEvent[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && isOfLog(node.expression)) {
      const event = node.arguments.find(ts.isStringLiteral);
      const fields = node.arguments.find(ts.isObjectLiteralExpression);
      if (event !== undefined)
        events.push({ event: event.text, fields: fields === undefined ? [] : namesIn(fields) });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest));
  return events;
};

/** `log.warn(…)`, `this.deps.log.warn(…)`, `logger[… ? 'error' : 'warn'](…)`, `this.orWarn(…)`. */
const isOfLog = (callee: ts.Expression): boolean => {
  if (ts.isElementAccessExpression(callee)) return isNamedLog(callee.expression);
  if (!ts.isPropertyAccessExpression(callee) || !METHODS.has(callee.name.text)) return false;
  return callee.name.text === 'orWarn' || isNamedLog(callee.expression);
};

const isNamedLog = (object: ts.Expression): boolean => {
  if (ts.isPropertyAccessExpression(object)) return isNamedLog(object.name as unknown as ts.Expression);
  return ts.isIdentifier(object) && /^(?:log|logger|accessLog)$/.test(object.text);
};

/** Names of the fields; those of an object that is spread into them do not appear in the source. */
const namesIn = (fields: ts.ObjectLiteralExpression): string[] =>
  fields.properties.flatMap(({ name }) => (name !== undefined && ts.isIdentifier(name) ? [name.text] : []));
