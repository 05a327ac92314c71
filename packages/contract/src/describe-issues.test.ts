import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { describeProblems, PLACES } from './describe-issues.ts';
import { routes } from './routes.ts';
import { asSentence } from './sentence.ts';

const inBody = (schema: z.ZodType, input: unknown) => describeProblems(schema, input, PLACES.body);
const create = (body: object) => inBody(routes.createRelyingParty.body, body);

describe('the text of a problem', () => {
  it.each([0, 301, 1.5, '60', null])('states the whole range of an integer for %j', (value) => {
    expect(create({ kind: 'managed', slug: 'a', proof_window_seconds: value })).toBe(
      `body.proof_window_seconds must be an integer from 1 to 300; got ${JSON.stringify(value)}`,
    );
  });

  it('lists the known members of the chosen variant beside an unknown one', () => {
    const settings = 'name, proof_window_seconds, verify_rate_limit_per_minute, profile, org_id';
    expect(create({ kind: 'managed', slug: 'a', window: 1 })).toBe(
      `body.window is not known here (known: kind, slug, ${settings})`,
    );
    expect(create({ kind: 'hosted', did: 'did:web:a.example', slug: 'a' })).toBe(
      `body.slug is not known here (known: kind, did, ${settings})`,
    );
  });

  it('lists the known members of a nested object too', () => {
    const keys = [{ publicKeyMultibase: `z6Mk${'h'.repeat(44)}`, kid: 'x' }];
    expect(inBody(routes.createPrincipal.body, { kind: 'managed', slug: 'a', keys })).toBe(
      'body.keys[0].kid is not known here (known: id, publicKeyMultibase)',
    );
  });

  it('lists at most twelve names, and says where there are none', () => {
    const wide = z.strictObject(
      Object.fromEntries([...'abcdefghijklmn'].map((name) => [name, z.string().optional()])),
    );
    expect(inBody(wide, { x: 1 })).toBe(
      'body.x is not known here (known: a, b, c, d, e, f, g, h, i, j, k, l, …)',
    );
    expect(describeProblems(z.strictObject({}), { page: '2' }, PLACES.query)).toBe(
      'query parameter page is not known here (there are none)',
    );
  });

  it('uses the singular and the plural', () => {
    const create = (keys: unknown[]) =>
      inBody(routes.createPrincipal.body, { kind: 'managed', slug: 'a', keys });
    expect(create([])).toBe('body.keys must have at least 1 item; got an array of 0');
    const key = { publicKeyMultibase: `z6Mk${'h'.repeat(44)}` };
    expect(create(Array(6).fill(key))).toBe('body.keys must have at most 5 items; got an array of 6');
  });

  it('says what may be null, and how many problems it leaves out', () => {
    const { body } = routes.putEntitlement;
    const sent = {
      production: 'allowed',
      production_until: null,
      reason: 'paid',
      as_of: '2026-11-20T08:00:00Z',
    };
    expect(inBody(body, { ...sent, check_cap: 'x', cap_since: null })).toBe(
      'body.check_cap must be an integer from 0 to 1000000000 or null; got "x"',
    );
    expect(inBody(body, { ...sent, check_cap: 5, cap_since: null })).toBe(
      'body.cap_since must be a time where check_cap is a number: checks are counted from then on; got null',
    );
    expect(inBody(body, {})).toMatch(/^body\.production is missing: .*; and 1 more$/);
  });

  it('describes only the problems that it returns, however many a body has', () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`n${i}`, 0]));
    for (const schema of [z.record(z.string(), z.object({})), z.strictObject({})]) {
      let named = 0;
      const field = (path: string) => {
        named += 1;
        return PLACES.body.field(path);
      };
      expect(describeProblems(schema, many, { ...PLACES.body, field })).toMatch(
        /^body\.n0 .*; body\.n4 .*; and 595 more$/,
      );
      expect(named).toBe(5);
    }
    expect(inBody(routes.pollStream.body, { setErrs: many })).toBe(
      'body.setErrs must name at most 500 SETs; got an object',
    );
  });

  it('states a problem once where two checks report it alike', () => {
    const error = 'must be 3 letters or more';
    const name = z
      .string()
      .min(3, { error })
      .regex(/^[a-z]+$/, { error });
    expect(inBody(z.strictObject({ name }), { name: 'A' })).toBe(`body.name ${error}; got "A"`);
  });

  it('names an item of an array that is the whole body', () => {
    expect(inBody(z.array(z.string()), [1])).toBe('body[0] must be a string; got 1');
  });
});

describe('asSentence', () => {
  it.each([
    ['the body is empty', 'The body is empty.'],
    ['Repeat the call.', 'Repeat the call.'],
    ['body.agent is missing', 'body.agent is missing.'],
    ['org_id: leave it out', 'org_id: leave it out.'],
    ['did:web:a.example is taken', 'did:web:a.example is taken.'],
  ])('makes a sentence of %j', (text, sentence) => expect(asSentence(text)).toBe(sentence));
});
