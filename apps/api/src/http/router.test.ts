import { describe, expect, it } from 'vitest';
import { type Place, type Respond, Router } from './router.ts';

const noOp: Respond = () => {};
const others: Respond = () => {};

const placeOf = (template: string, methods: readonly string[], rest: Respond | null = others): Place => ({
  template,
  methods: new Map(methods.map((method) => [method, noOp])),
  others: rest,
});

describe('The router', () => {
  const router = new Router([
    placeOf('/a/b', ['POST']),
    placeOf('/left-out/c', ['PUT'], null),
    placeOf('/a/{id}', ['GET']),
    placeOf('/left-out/{id}', ['GET']),
    placeOf('/.well-known/{x}/y.json', ['GET']),
  ]);
  const params = (target: string, method = 'GET') => router.find(method, target)?.params ?? null;

  it('prefers fixed segments to parameters', () => {
    expect(router.find('POST', '/a/b')).toEqual({ respond: noOp, params: {} });
    expect(router.find('GET', '/a/b')?.respond).toBe(others);
    expect(params('/a/c')).toEqual({ id: 'c' });
  });

  it('handles HEAD like GET, and passes other methods of an existing path to a separate handler', () => {
    expect(router.find('HEAD', '/a/c')?.respond).toBe(noOp);
    expect(router.find('DELETE', '/a/c')?.respond).toBe(others);
  });

  it('skips a path that this deployment leaves out', () => {
    expect(router.find('PUT', '/left-out/c')?.respond).toBe(noOp);
    expect(params('/left-out/c')).toEqual({ id: 'c' });
  });

  it.each(['/a', '/a/', '/a//', '/A/c', '/a/c/', '/a/c/d', '//a/c', '/.well-known/1/yxjson', '*', ''])(
    'finds nothing at %o',
    (target) => expect(router.find('GET', target)).toBeNull(),
  );

  it.each([
    ['/a/c?x=1', 'c'],
    ['/a/c%2Fd', 'c/d'],
    ['/a/%25', '%'],
    ['http://host.example:80/a/c?x', 'c'],
    ['/a/__proto__', '__proto__'],
  ])('reads the parameter of %o', (target, id) => expect(params(target)).toEqual({ id }));

  it('throws a URIError for a parameter with a broken escape, and returns null for an unknown path', () => {
    expect(() => params('/a/%')).toThrow(URIError);
    expect(() => params('/a/%ff')).toThrow(URIError);
    expect(params('/none/%')).toBeNull();
  });
});
