import { expect, it } from 'vitest';
import { createEventSubscriptions, type NewEventSubscription, type Transport } from '../src/index.ts';

const nothingIsSent = { send: () => Promise.reject(new Error('it was sent')) } as unknown as Transport;
const subscriptions = createEventSubscriptions(nothingIsSent);
const url = 'https://shop.example/hooks/svc';
const ID = 'whs_01M7VZGC008Q2R7V9X1C4E6H8R';

it.each<[unknown, string]>([
  [undefined, 'takes an object of options; given nothing'],
  [{ url }, 'types must be an array of'],
  [{ url, types: 'decision.deny' }, 'given a string'],
  [{ url, types: [] }, 'given an empty array'],
  [{ types: ['decision.deny'] }, 'url must be'],
  [{ url, types: ['decision.deny'], budgetLowPercent: 100 }, 'budgetLowPercent must be'],
  [{ url, types: ['decision.deny'], budget_low_percent: 20 }, 'has no option "budget_low_percent"'],
])('a subscription to %j is refused before anything is sent, and the error says why', async (asked, why) => {
  await expect(subscriptions.create(asked as NewEventSubscription)).rejects.toMatchObject({
    kind: 'invalid-argument',
    message: expect.stringContaining(why),
  });
});

it.each([undefined, {}, { eventId: 'evt_1', since: 'now' }, { since: 1 }])(
  'a replay from %j is refused before anything is sent',
  async (from) => {
    await expect(subscriptions.replay(ID, from as never)).rejects.toMatchObject({ kind: 'invalid-argument' });
  },
);
