/** Random Capabilities around a random Action: amounts, currencies, methods, patterns and budgets that nearly fit. */
import type { JsonObject } from '@svc/protocol';
import { jcs, PROFILE_IDS, portableCrypto, sha256Of } from '@svc/protocol';
import { apiCapability, GRANT_ID, type Members, purchaseCapability, type Scene } from '../scene.ts';
import type { Random } from './random.ts';
import { respell } from './random-url.ts';

const RESOURCES = [
  'order/1001',
  'order/1/items/2',
  'a',
  '',
  '*',
  'o/**',
  'order//',
  'or[d]er?',
  '\u{1f980}/x',
] as const;
const URLS = [
  'https://api.shop.example/v1/orders',
  'http://api.shop.example/v1/orders/7',
  'https://eu.api.shop.example:8443/v1/%2F/x',
  'https://[2001:db8::1]/v1/~a//b',
  'https://shop.example',
  'https://api.shop.example/v1/a%2Fb/..;x/%252e%252e/c',
  'https://sh%C3%B6p.example/v1/%5C..%2F',
] as const;
const AMOUNTS = [0, 1, 42_699, 42_700, 42_701, 50_000, 50_001, Number.MAX_SAFE_INTEGER] as const;
const CURRENCIES = ['USD', 'USD', 'USD', 'EUR'] as const;
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const;
const PERIODS = ['hour', 'day', 'week', 'month'] as const;

const list = <T>(random: Random, most: number, make: () => T): T[] =>
  Array.from({ length: 1 + random.below(most) }, make);

/** A pattern that resembles the text: pieces are replaced by wildcards, and characters changed. */
const patternFor = (text: string, random: Random): string => {
  const characters = [...text];
  for (let changes = random.below(4); changes > 0; changes--) {
    const start = random.below(characters.length + 1);
    const length = random.below(characters.length - start + 1);
    characters.splice(start, length, random.pick(['*', '**', '*', '**', '***', '', '/', '?']));
  }
  return characters.join('') || '*';
};

const resourcesFor = (resource: string, random: Random): Members =>
  random.below(5) === 0
    ? { resources: undefined }
    : { resources: list(random, 3, () => patternFor(resource, random)) };

export const randomPurchaseAuthority = (scene: Scene, random: Random): void => {
  const resource = random.pick(RESOURCES);
  scene.action = {
    type: 'commerce:purchase',
    resource,
    amount: random.pick(AMOUNTS),
    currency: random.pick(CURRENCIES),
  };
  scene.rp.profile = random.pick(PROFILE_IDS);
  const capabilities = list(random, 4, () =>
    purchaseCapability(
      {
        maxAmount: random.pick(AMOUNTS),
        currency: random.pick(CURRENCIES),
        ...(random.below(3) === 0 ? randomBudget(random) : {}),
        ...(random.below(12) === 0 ? { merchantCategory: '5411' } : {}),
      },
      resourcesFor(resource, random),
    ),
  );
  setAuthority(scene, random, capabilities);
};

export const randomApiAuthority = (scene: Scene, random: Random): void => {
  const resource = random.below(3) === 0 ? respell(random.pick(URLS), random) : random.pick(URLS);
  scene.action = { type: 'api:call', method: random.pick(METHODS), resource };
  scene.rp.profile = random.pick(PROFILE_IDS);
  const capabilities = list(random, 4, () =>
    apiCapability(
      {
        methods: [...new Set(list(random, 3, () => random.pick(METHODS)))],
        ...(random.below(4) === 0 ? { maxUses: random.below(4) } : {}),
      },
      resourcesFor(resource, random),
    ),
  );
  setAuthority(scene, random, capabilities);
};

const randomBudget = (random: Random): Members => ({
  ...(random.below(2) === 0 ? { maxTotal: random.pick(AMOUNTS) } : {}),
  ...(random.below(2) === 0 ? { maxPerPeriod: random.pick(AMOUNTS), period: random.pick(PERIODS) } : {}),
  ...(random.below(2) === 0 ? { maxUses: random.below(4) } : {}),
});

/** Sets the Capabilities and, for some of them, what has been consumed. */
const setAuthority = (scene: Scene, random: Random, capabilities: readonly Members[]): void => {
  scene.grant.subject.capabilities = capabilities;
  const spent = capabilities
    .filter(() => random.below(2) === 0)
    .map((one) => balanceOf(one, scene.now, random));
  const byKey = new Map(spent.map((balance) => [String(balance.key), balance]));
  scene.balances = {
    grant_id: scene.grant.payload.id ?? GRANT_ID,
    version: random.below(9),
    capabilities: [...byKey.values()].sort((a, b) => (String(a.key) < String(b.key) ? -1 : 1)),
  };
};

const balanceOf = (capability: Members, now: string, random: Random): Members => {
  const agoMs = random.pick([-1, 0, 1, 3_600_000, 86_400_000, 604_800_000, 2_678_400_000]);
  const plain = JSON.parse(JSON.stringify(capability)) as JsonObject;
  return {
    key: sha256Of(portableCrypto, jcs(plain)),
    spent_total: random.pick(AMOUNTS),
    spent_in_period: random.pick(AMOUNTS),
    period_start: random.below(4) === 0 ? null : new Date(Date.parse(now) - agoMs).toISOString(),
    uses_spent: random.below(4),
    limits: { total: null, per_period: null, uses: null },
    remaining: { total: null, per_period: null, uses: null },
    updated_at: now,
  };
};
