import { routes } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { findResponseProblem } from './response-check.ts';

describe('response check', () => {
  const seen = (status: number, body: unknown, contentType = 'application/json; charset=utf-8') => ({
    status,
    contentType,
    text: JSON.stringify(body),
  });
  it('accepts a declared body and any Error under its own status', () => {
    expect(findResponseProblem(routes.getHealth, seen(503, { ok: false }))).toBeNull();
    expect(findResponseProblem(routes.getMe, seen(401, { error: 'UNAUTHORIZED', message: 'no' }))).toBeNull();
  });
  it('reports an undeclared status, an extra member, a wrong content type and a code with the wrong status', () => {
    expect(findResponseProblem(routes.getHealth, seen(201, { ok: true }))).not.toBeNull();
    expect(findResponseProblem(routes.getHealth, seen(200, { ok: true, more: 1 }))).not.toBeNull();
    expect(findResponseProblem(routes.getHealth, seen(200, { ok: true }, 'text/html'))).not.toBeNull();
    expect(
      findResponseProblem(routes.getMe, seen(401, { error: 'FORBIDDEN', message: 'no' })),
    ).not.toBeNull();
  });
});
