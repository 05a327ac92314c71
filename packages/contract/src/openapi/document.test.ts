import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { errorCodesOf, type Route } from '../route.ts';
import { routes } from '../routes.ts';
import { statusOf } from './components.ts';
import { buildOpenApiDocument, openApiText } from './document.ts';

const document = buildOpenApiDocument('https://svc.example');
const paths = document.paths ?? {};
type Operation = { operationId: string; responses: Record<string, unknown>; security: unknown[] };
const operationOf = (route: Route): Operation =>
  paths[route.path]?.[route.method as 'get'] as unknown as Operation;

describe('OpenAPI document', () => {
  it('docs/openapi.json is what the routes generate (refresh: npm run --prefix packages/contract openapi)', () => {
    const committed = readFileSync(new URL('../../../../docs/openapi.json', import.meta.url), 'utf8');
    expect(committed).toBe(openApiText());
  });

  it.each(Object.entries(routes) as [string, Route][])(
    'describes %s with every status that it can answer',
    (id, route) => {
      const operation = operationOf(route);
      expect(operation.operationId).toBe(id);
      const statuses = [...Object.keys(route.responses), ...errorCodesOf(route).map(statusOf)];
      expect(Object.keys(operation.responses).sort()).toEqual([...new Set(statuses)].sort());
      expect(operation.security).toHaveLength(route.auth.length);
    },
  );

  it('begins with the first calls, the limits and the errors, and names only calls that exist', () => {
    const { description = '' } = document.info;
    for (const heading of ['# Getting started', '# Limits', '# Errors'])
      expect(description).toContain(heading);
    for (const said of ['SVC_ADMIN_TOKEN', '| 405 | `METHOD_NOT_ALLOWED` |', 'sent as `%25`'])
      expect(description).toContain(said);
    expect(description).not.toMatch(/https?:\/\//);
    const calls = [...description.matchAll(/^\d\. .*?`(GET|POST) (\/[^`]*)`/gm)].map(
      ([, method = '', path = '']) => [path, paths[path]?.[method.toLowerCase() as 'get'] !== undefined],
    );
    expect(calls.length).toBeGreaterThan(3);
    expect(calls.filter(([, exists]) => !exists)).toEqual([]);
  });

  it('names only sections that the protocol has', () => {
    const protocol = readFileSync(new URL('../../../../docs/protocol.md', import.meta.url), 'utf8');
    const named = [...(document.info.description ?? '').matchAll(/“([^”]+)”/g)].map(([, name]) => name);
    expect(named.length).toBeGreaterThan(4);
    for (const name of named) expect(protocol).toContain(`\n## ${name}\n`);
  });

  it('marks the reason that is never given', () => {
    const receipt = document.components?.schemas?.Receipt;
    const { reason } = (receipt as { properties: { reason: { description: string; enum: string[] } } })
      .properties;
    expect(reason.enum).toContain('ISSUER_NOT_TRUSTED');
    expect(reason.description).toContain('never given: `ISSUER_NOT_TRUSTED`.');
  });

  it('has a target for every reference', () => {
    const text = JSON.stringify(document);
    const references = new Set([...text.matchAll(/"\$ref":"#\/([^"]+)"/g)].map((match) => match[1] ?? ''));
    expect(references.size).toBeGreaterThan(10);
    for (const reference of references) {
      const target = reference
        .split('/')
        .reduce<unknown>((node, name) => (node as Record<string, unknown> | undefined)?.[name], document);
      expect([reference, target !== undefined]).toEqual([reference, true]);
    }
  });
});
