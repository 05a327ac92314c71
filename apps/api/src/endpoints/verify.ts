/** `POST /verify`: the envelope is parsed by now; whatever is wrong inside it becomes a DENY Receipt. */
import { hash } from 'node:crypto';
import type { Routes } from '@svc/contract';
import type { Idempotency } from '@svc/service';
import type { Handler } from '../http/index.ts';
import type { Decide } from './decide.ts';

export const verify =
  (decide: Decide): Handler<Routes['verify']> =>
  async ({ caller, body, bodyText, headers }) => {
    const answer = await decide(caller, body, idempotencyOf(headers['idempotency-key'], bodyText));
    const replayed = answer.replayed ? { headers: { 'Svc-Idempotent-Replay': 'true' } } : {};
    return { status: 200, rawBody: answer.text, ...replayed };
  };

export const idempotencyOf = (key: string | undefined, bodyText: string | null): Idempotency | null =>
  key === undefined ? null : { key, bodyHash: hash('sha256', bodyText ?? '', 'hex') };
