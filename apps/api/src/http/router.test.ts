import { describe, expect, it } from 'vitest';
import { type Place, type Respond, Router } from './router.ts';

const noOp: Respond = () => {};
const others: Respond = () => {};

const placeOf = (template: string, methods: readonly string[], rest: Respond | null = others): Place => ({
  template,
  methods: new Map(methods.map((method) => [method, noOp])),
  others: rest,
});

describe('the router', () => {
  const router = new Router([
    placeOf('/a/b', ['POST']),
    placeOf('/left-out/c', ['PUT'], null),
    placeOf('/a/{id}', ['GET']),
    placeOf('/left-out/{id}', ['GET']),
    placeOf('/.well-known/{x}/y.json', ['GET']),
  ]);
  const params = (target: string, method = 'GET') => router.find(method, target)?.params ?? null;

  it('takes fixed segments before parameters', () => {
    expect(router.find('POST', '/a/b')).toEqual({ respond: noOp, params: {} });
    expect(router.find('GET', '/a/b')?.respond).toBe(others);
    expect(params('/a/c')).toEqual({ id: 'c' });
  });

  it('answers HEAD like GET, and other methods of a path that exists apart', () => {
    expect(router.find('HEAD', '/a/c')?.respond).toBe(noOp);
    expect(router.find('DELETE', '/a/c')?.respond).toBe(others);
  });

  it('passes over a path that this deployment leaves out', () => {
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

  it('tells a parameter that is not well encoded from one that is not there', () => {
    expect(() => params('/a/%')).toThrow(URIError);
    expect(() => params('/a/%ff')).toThrow(URIError);
    expect(params('/none/%')).toBeNull();
  });
});
