/** `GET /checkpoints/latest`, `GET /checkpoints/{day}`, `POST /checkpoints/close`. */
import type { Routes } from '@svc/contract';
import { closeDays, notFound, type ServiceDeps } from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentCheckpoint } from '../present/checkpoint.ts';

/** What is published never changes. */
export const IMMUTABLE = { 'Cache-Control': 'public, max-age=31536000, immutable' };
const UNTIL_THE_NEXT = { 'Cache-Control': 'public, max-age=60' };

export const getLatestCheckpoint =
  ({ store, identity }: ServiceDeps): Handler<Routes['getLatestCheckpoint']> =>
  async () => {
    const checkpoint = await store.checkpoints.findLatest();
    if (checkpoint === null) throw notFound('No day has been closed yet.');
    return { status: 200, body: presentCheckpoint(identity, checkpoint), headers: UNTIL_THE_NEXT };
  };

export const getCheckpoint =
  ({ store, identity }: ServiceDeps): Handler<Routes['getCheckpoint']> =>
  async ({ params }) => {
    const checkpoint = await store.checkpoints.find(params.day);
    if (checkpoint === null) throw notFound(`${params.day} is not closed.`);
    return { status: 200, body: presentCheckpoint(identity, checkpoint), headers: IMMUTABLE };
  };

export const closeCheckpoints =
  (deps: ServiceDeps): Handler<Routes['closeCheckpoints']> =>
  async () => {
    const { closed, latest } = await closeDays(deps);
    return { status: 200, body: { closed: [...closed], latest } };
  };
