/** `GET /decisions/{receipt_id}/inclusion`: for anybody who holds the Receipt (interface §Decisions). */
import type { Routes } from '@svc/contract';
import { getInclusion as proveInclusion, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentInclusion, presentPending } from '../../present/inclusion.ts';
import { IMMUTABLE } from '../../endpoints/transparency.ts';

export const getInclusion =
  (deps: ServiceDeps): Handler<Routes['getInclusion']> =>
  async ({ params: { receipt_id } }) => {
    const answer = await proveInclusion(deps, receipt_id);
    if (answer.kind === 'pending') return { status: 202, body: presentPending(receipt_id, answer.day) };
    return { status: 200, body: presentInclusion(receipt_id, answer), headers: IMMUTABLE };
  };
