import { afterEach, expect, it, vi } from 'vitest';
import type { DemoInfo } from '../shared/wire.ts';
import { play } from './scenarios.ts';

afterEach(() => void vi.unstubAllGlobals());

const info = { authority: { constraints: { maxAmount: 50_000, currency: 'USD' } } } as unknown as DemoInfo;

it('after a 503 a scenario starts again with a new Proof, because the first one may be spent', async () => {
  const sent: string[] = [];
  let minted = 0;
  let isBusy = true;
  vi.stubGlobal('fetch', async (path: string, { body }: { body: string }) => {
    if (path === 'demo/mint') {
      minted += 1;
      const action = { amount: 1, currency: 'USD', resource: 'https://shop.example/checkout' };
      return Response.json({ grant: `grant-${minted}`, proof: `proof-${minted}`, action, grant_id: 'g' });
    }
    sent.push(JSON.parse(body).proof);
    if (!isBusy) return Response.json({ decision: 'ALLOW' });
    isBusy = false;
    return Response.json({ message: 'Busy.' }, { status: 503, headers: { 'Retry-After': '0' } });
  });
  const run = await play('honest', 1, info);
  expect(run.receipt.decision).toBe('ALLOW');
  expect(sent).toEqual(['proof-1', 'proof-2']);
  expect(run.request.proof).toBe('proof-2');
});
