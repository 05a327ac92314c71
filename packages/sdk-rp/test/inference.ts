/** Typical usage that must compile and be accepted at set-up. */
import type { Action, Capability, ReasonCode, Verdict, Verifier } from '@svc/sdk-rp';
import { type ExpressHandler, requireAuthority as guardExpress } from '@svc/sdk-rp/express';
import { requireAuthority as guardFastify } from '@svc/sdk-rp/fastify';
import express, { type Request } from 'express';
import type { FastifyInstance, FastifyRequest } from 'fastify';

interface Order {
  Body: { id: string; total: number };
}

const buy = (id: string, amount: number): Action => ({
  type: 'commerce:purchase',
  resource: `order/${id}`,
  amount,
  currency: 'USD',
});

export function mount(
  verifier: Pick<Verifier, 'verify'>,
  fastify: FastifyInstance,
): ExpressHandler<Request>[] {
  const origin = 'https://shop.example';
  const app = express();
  const inline = guardExpress({ verifier, origin, action: (req) => buy(req.body.id, req.body.total) });
  const onError = (error: unknown, req: Request) => console.error(req.path, error);
  app.use(
    guardExpress({ verifier, url: (req) => origin + req.originalUrl, action: () => buy('1', 2), onError }),
  );
  app.post(
    '/orders/:id',
    guardExpress({ verifier, origin, action: (req: Request<{ id: string }>) => buy(req.params.id, 1) }),
  );
  fastify.post('/orders', {
    preHandler: guardFastify({ verifier, origin, action: ({ body }) => buy(...(body as [string, number])) }),
    handler: async () => ({}),
  });
  fastify.post<Order>('/typed', {
    preHandler: guardFastify({
      verifier,
      origin,
      action: ({ body }: FastifyRequest<Order>) => buy(body.id, body.total),
    }),
    handler: async () => ({}),
  });
  return [inline];
}

/** A verdict narrows both as a whole and when destructured. */
export function reasonOf(verdict: Verdict): ReasonCode | null {
  const { allowed, reason, authority } = verdict;
  const taken: Capability | ReasonCode = allowed ? authority : reason;
  if (!verdict.allowed) return verdict.reason;
  return taken === verdict.authority ? null : reason;
}
