/** `GET /audit`: one page, newest first. */
import type { Routes } from '@svc/contract';
import { listAudit as list, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAuditEvent } from '../../endpoints/audit.ts';

export const listAudit =
  (deps: ServiceDeps): Handler<Routes['listAudit']> =>
  async ({ caller, query }) => {
    const { events, nextCursor } = await list(deps, caller, query);
    return { status: 200, body: { events: events.map(presentAuditEvent), next_cursor: nextCursor } };
  };
