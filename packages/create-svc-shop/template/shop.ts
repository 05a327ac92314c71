/** The shop: an Agent may order what a Principal has allowed it to buy. */
import type { Action, Verifier } from '@svc/sdk-rp';
import { getAuthority, requireAuthority } from '@svc/sdk-rp/express';
import express, { type Express, type Request } from 'express';

/** In cents. The shop sets the prices, never the Agent. */
const PRICES = new Map([
  ['book', 1_250],
  ['lamp', 42_700],
]);

/** The Action of buying an item. The Agent signs exactly this Action, and the service compares the two. */
function purchaseOf(item: string): Action {
  const amount = PRICES.get(item);
  if (amount === undefined) throw new Error(`there is no ${item}`);
  return { type: 'commerce:purchase', resource: `item/${item}`, amount, currency: 'USD' };
}

/** `origin`: scheme, host and port as Agents address the shop. */
export function createShop(verifier: Verifier, origin: string): Express {
  const app = express();
  const action = (req: Request<{ item: string }>) => purchaseOf(req.params.item);
  app.param('item', (_req, res, next, item: string) => {
    if (PRICES.has(item)) next();
    else res.status(404).json({ error: 'NOT_FOUND' });
  });
  app.get('/items/:item', (req, res) => {
    res.json(action(req));
  });
  app.post('/orders/:item', requireAuthority({ verifier, origin, action }), (req, res) => {
    // Process the order here. Store the Receipt's id with it: the Receipt proves who allowed what.
    const { agent, principal, receiptId } = getAuthority(req);
    res.status(201).json({ item: req.params.item, agent, principal, receiptId });
  });
  return app;
}
