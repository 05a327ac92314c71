/**
 * An endpoint for events as a function from `Request` to `Response`. Next.js (`app/hooks/svc/route.ts`): `export const POST =
 * createHandler(…)`. Hono: `app.post('/hooks/svc', (c) => handler(c.req.raw))`. Workers, Deno, Bun: as their `fetch`.
 */
import { SvcError, verifyWebhook, type WebhookEvent } from '@svc/sdk-rp';

export const createHandler =
  (secret: string, handle: (event: WebhookEvent) => Promise<void>) =>
  async (request: Request): Promise<Response> => {
    try {
      await handle(await verifyWebhook(request, { secret }));
    } catch (error) {
      if (!(error instanceof SvcError && error.kind === 'webhook-invalid')) throw error;
      return new Response(null, { status: 400 });
    }
    return new Response(null, { status: 204 });
  };
