/** An endpoint for events in Fastify. The parser is the plugin's own: other routes keep theirs. */
import { SvcError, verifyWebhook, type WebhookEvent } from '@svc/sdk-rp';
import fastify from 'fastify';

export const createApp = (secret: string, handle: (event: WebhookEvent) => Promise<void>) => {
  const app = fastify();
  app.register(async (hooks) => {
    hooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    hooks.post<{ Body: Buffer }>('/hooks/svc', async ({ headers, body }, reply) => {
      try {
        await handle(await verifyWebhook({ headers, body }, { secret }));
      } catch (error) {
        if (!(error instanceof SvcError && error.kind === 'webhook-invalid')) throw error;
        return reply.code(400).send();
      }
      return reply.code(204).send();
    });
  });
  return app;
};
