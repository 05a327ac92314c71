import {
  isApiKeyId,
  isGrantId,
  isOrgId,
  isReceiptId,
  isSha256,
  parseDidKey,
  parseDidWeb,
} from '@svc/protocol';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ERROR_STATUS } from './error-codes.ts';
import { EXAMPLE } from './examples.ts';
import * as formats from './formats.ts';
import { errorCodesOf, type Route } from './route.ts';
import { routes, TAGS } from './routes.ts';

const all: readonly (readonly [string, Route])[] = Object.entries(routes);
const INTERFACE_STATUSES = [200, 201, 202, 204, 400, 401, 402, 403, 404, 409, 413, 429, 503];

const schemasOf = (route: Route): readonly z.ZodType[] => [
  ...(route.body ? [route.body] : []),
  ...Object.values(route.responses).flatMap((response) => {
    if (response.kind === 'empty') return [];
    const own = response.kind === 'stream' ? Object.values(response.lineSchemas ?? {}) : [response.schema];
    return own.flatMap((schema) => (schema ? [schema] : []));
  }),
];

/** Parameter names of a path, in order: `/a/{b}/{c}` → `['b', 'c']`. */
const pathParameters = (path: string): readonly string[] =>
  path.split('/').flatMap((segment) => (segment.startsWith('{') ? [segment.slice(1, -1)] : []));

describe.each(all)('route %s', (_id, route) => {
  it('declares exactly the parameters that its path names', () => {
    expect(Object.keys(route.params?.shape ?? {}).sort()).toEqual([...pathParameters(route.path)].sort());
  });

  it('has the public or sandbox limiter exactly when it takes no credential', () => {
    expect(['public', 'sandbox'].includes(route.limiter)).toBe(route.auth.length === 0);
  });

  it('belongs to a section of the reference, and ends its description, not its summary, with a full stop', () => {
    expect(TAGS.map(({ name }) => name)).toContain(route.tag);
    expect(route.summary).not.toMatch(/\.$/);
    expect(route.description).toMatch(/\.$/);
  });

  it('answers only with statuses of the interface and 500', () => {
    const statuses = [
      ...Object.keys(route.responses).map(Number),
      ...errorCodesOf(route).map((code) => ERROR_STATUS[code]),
    ];
    expect(statuses.filter((status) => status !== 500 && !INTERFACE_STATUSES.includes(status))).toEqual([]);
  });

  it('shows only examples that its own schemas accept', () => {
    for (const schema of schemasOf(route)) {
      const { example } = (schema.meta() ?? {}) as { example?: unknown };
      if (example !== undefined) expect(schema.safeParse(example)).toMatchObject({ success: true });
    }
  });
});

describe('the routes together', () => {
  it('declare no method and path twice', () => {
    const places = all.map(([, route]) => `${route.method} ${route.path.replaceAll(/\{[^}]*\}/g, '{}')}`);
    expect(new Set(places).size).toBe(places.length);
  });

  it('accept only an RP key for /verify', () => {
    expect(routes.verify.auth).toEqual(['rp']);
  });
});

describe('formats and the protocol library agree', () => {
  it.each([
    [formats.grantId, EXAMPLE.grantId, isGrantId],
    [formats.receiptId, EXAMPLE.receiptId, isReceiptId],
    [formats.orgId, EXAMPLE.orgId, isOrgId],
    [formats.apiKeyId, EXAMPLE.keyId, isApiKeyId],
    [formats.sha256, `sha256:${'0'.repeat(64)}`, isSha256],
    [formats.didKey, EXAMPLE.agent, (text: unknown) => parseDidKey(String(text)) !== null],
    [formats.didWeb, EXAMPLE.principal, (text: unknown) => parseDidWeb(String(text)) !== null],
  ] as [z.ZodType, string, (text: unknown) => boolean][])(
    '%#: on the example, the example with a tail, and an empty text',
    (schema, example, accepts) => {
      for (const text of [example, `${example}\n`, `${example}?`, ''])
        expect([text, schema.safeParse(text).success]).toEqual([text, accepts(text)]);
    },
  );
});

describe('verify request', () => {
  it('passes on the same action object that came in', () => {
    const action = JSON.parse('{"__proto__":1,"type":"x"}');
    const parsed = routes.verify.body.parse({ grant: '', proof: '', action });
    expect(parsed.action).toBe(action);
  });

  it.each([
    [{ grant: '', proof: '' }],
    [{ grant: '', proof: '', action: [] }],
    [{ grant: '', proof: '', action: null }],
    [{ grant: 1, proof: '', action: {} }],
    [{ grant: '', proof: '', action: {}, more: 1 }],
    [JSON.parse('{"grant":"","proof":"","action":{},"__proto__":1}')],
    [[]],
    ['text'],
    [null],
  ])('refuses the envelope %j', (body) => {
    expect(routes.verify.body.safeParse(body).success).toBe(false);
  });
});

describe('query integers', () => {
  const limit = formats.pageLimit;
  it.each([
    [undefined, 50],
    ['1', 1],
    ['200', 200],
  ])('%j reads as %d', (text, value) => {
    expect(limit.parse(text)).toBe(value);
  });
  it.each(['0', '201', '-1', '1.5', '1e2', ' 5', '05', '0x10', '', '9999999999999'])(
    '%j is refused',
    (text) => {
      expect(limit.safeParse(text).success).toBe(false);
    },
  );
});

describe('query times', () => {
  const AT = Date.UTC(2026, 10, 20, 8);
  it.each([
    ['2026-11-20T08:00:00Z', 0],
    ['2026-11-20T08:00:00.000Z', 0],
    ['2026-11-20T08:00:00.5Z', 500],
    ['2026-11-20T08:00:00.001Z', 1],
    ['2026-11-20T08:00:00.000000001Z', 1],
    ['2026-11-20T08:00:00.001000001Z', 2],
    ['2026-11-20T08:00:00.9990001Z', 1_000],
    ['2026-11-20t08:00:00z', 0],
    ['2026-11-20T08:00:00+00:00', 0],
    ['2026-11-20t08:00:00.5-00:00', 500],
    ['2026-11-20T08:00:00.001000001+00:00', 2],
  ])('%s is rounded up to a millisecond', (text, ms) => {
    expect(formats.instant.parse(text)).toBe(AT + ms);
  });
  it.each([
    '2026-11-20T09:00:00+01:00',
    '2026-11-20T08:00:00',
    '2026-11-20 08:00:00Z',
    '2026-02-30t08:00:00z',
  ])('%s is refused as no time in UTC', (text) => {
    expect(formats.instant.safeParse(text).success).toBe(false);
    expect(formats.timestampOfAnySpelling.safeParse(text).success).toBe(false);
  });
  it.each(['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.9990001Z', '9999-12-31T23:59:59.9999Z'])(
    '%s is limited to the last millisecond of the year 9999',
    (text) => {
      expect(new Date(formats.instant.parse(text)).toISOString()).toBe('9999-12-31T23:59:59.999Z');
    },
  );
});
