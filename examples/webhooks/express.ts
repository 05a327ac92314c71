/** An endpoint for events in Express. The body stays bytes until it is verified. */
import { SvcError, verifyWebhook, type WebhookEvent } from '@svc/sdk-rp';
import express from 'express';

export const createApp = (secret: string, handle: (event: WebhookEvent) => Promise<void>) => {
  const app = express();
  // Ahead of an express.json() for the rest of the app: what that leaves cannot be verified.
  app.post('/hooks/svc', express.raw({ type: 'application/json' }), async (req, res, next) => {
    try {
      await handle(await verifyWebhook(req, { secret }));
    } catch (error) {
      // To Express, which does not catch what an async handler throws before version 5.
      if (!(error instanceof SvcError && error.kind === 'webhook-invalid')) return next(error);
      res.sendStatus(400);
      return;
    }
    res.sendStatus(204);
  });
  return app;
};
