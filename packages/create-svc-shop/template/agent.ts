/** The Agent: buys from the shop under the Grant of a Principal. */
import { type Action, type Agent, createAgentFetch } from '@svc/sdk-principal/agent';

export interface Buyer {
  readonly agent: Agent;
  readonly grant: string;
  readonly shop: { readonly did: string; readonly origin: string };
  /** Milliseconds since the epoch; this computer's clock unless given. */
  readonly now?: () => number;
}

/**
 * Orders one item for at most `atMost` cents. The shop names the price, and the Agent signs for exactly that purchase.
 */
export async function buy({ shop, ...buyer }: Buyer, item: string, atMost: number): Promise<Response> {
  const offer = await fetch(`${shop.origin}/items/${encodeURIComponent(item)}`);
  if (!offer.ok) throw new Error(`the shop has no ${item}: ${offer.status}`);
  const action = (await offer.json()) as Action;
  if (action.type !== 'commerce:purchase' || action.resource !== `item/${item}` || action.currency !== 'USD')
    throw new Error('the shop offers something else');
  // Also true if one of the two is not a number.
  if (!(action.amount <= atMost))
    throw new Error(`${item} costs ${action.amount} cents, and ${atMost} are the limit`);
  const send = createAgentFetch({ ...buyer, audience: shop.did, action });
  return send(`${shop.origin}/orders/${encodeURIComponent(item)}`, { method: 'POST' });
}
