import type { ReceiptBody } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { budgeted, capabilityOf } from '@svc/testkit/receipts/budgets';
import { buildWorld, resign, serviceDocument } from '@svc/testkit/receipts/world';
import { expect, it } from 'vitest';
import { verifyReceipt } from '../index.ts';

const budget = capabilityOf({ maxTotal: 100_000, maxPerPeriod: 50_000, period: 'day', maxUses: 3 });
const worlds = [
  await buildWorld(),
  await buildWorld(budgeted([budget])),
  await buildWorld({ facts: { status: 'unavailable' } }),
  await buildWorld({ facts: { principal: 'absent' } }),
];
const bodies: readonly (readonly [string, ReceiptBody])[] = worlds.map(({ body }) => [
  `${body.decision} ${body.reason ?? (body.evidence.consumption ? 'with a consumption' : '')}`.trim(),
  body,
]);

type Container = Record<string, unknown>;
const isContainer = (value: unknown): value is Container => typeof value === 'object' && value !== null;
const namesIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  isContainer(value)
    ? Object.keys(value).flatMap((name) => [[...path, name], ...namesIn(value[name], [...path, name])])
    : [];

/** Every place that a Receipt can have, as member names from the root. */
const places = new Map(
  worlds.flatMap(({ body }) => namesIn(body)).map((names) => [`/${names.join('/')}`, names] as const),
);

/** A value that is valid nowhere in a Receipt. */
const MALFORMED = 7.5;

const setMalformed = (draft: unknown, names: readonly string[]): boolean => {
  const container = names.slice(0, -1).reduce<unknown>((at, name) => (at as Container)?.[name], draft);
  if (!isContainer(container)) return false;
  container[names.at(-1) ?? ''] = MALFORMED;
  return true;
};

it.each(bodies)(
  'in a Receipt of %s, any malformed member is reported as malformed-member, and nothing else is reported',
  async (_, body) => {
    let tried = 0;
    for (const [pointer, names] of places) {
      if (!setMalformed(structuredClone(body), names)) continue;
      const receipt = await resign(body, (draft) => void setMalformed(draft, names));
      const verified = verifyReceipt(receipt, serviceDocument, { crypto: nativeCrypto });
      const failures = verified.ok ? [] : verified.failures;
      expect(failures, pointer).not.toEqual([]);
      for (const { code, path } of failures)
        expect([code, path !== undefined && pointer.startsWith(path)], pointer).toEqual([
          'malformed-member',
          true,
        ]);
      tried += 1;
    }
    expect(tried).toBeGreaterThan(50);
  },
);
