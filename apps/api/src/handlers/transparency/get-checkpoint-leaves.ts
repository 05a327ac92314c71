/** `GET /checkpoints/{day}/leaves`: streamed, since a day can have millions. */
import type { Routes } from '@svc/contract';
import { listLeaves, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { IMMUTABLE } from '../../endpoints/transparency.ts';

export const getCheckpointLeaves =
  (deps: ServiceDeps): Handler<Routes['getCheckpointLeaves']> =>
  async ({ params }) => {
    const { checkpoint, text } = await listLeaves(deps, params.day);
    return {
      status: 200,
      stream: text,
      contentType: 'text/plain; charset=utf-8',
      headers: {
        ...IMMUTABLE,
        'X-Svc-Tree-Size': String(checkpoint.treeSize),
        'X-Svc-Root': checkpoint.root,
      },
    };
  };
