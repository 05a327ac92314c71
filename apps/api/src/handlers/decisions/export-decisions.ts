/** `GET /decisions/export`: one page of whole decisions, streamed, newest first. */
import type { Routes } from '@svc/contract';
import { exportDecisions as exportPage, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { exportCsv, exportNdjson } from '../../endpoints/decisions/export-text.ts';
import { ExportTurns } from '../../endpoints/decisions/export-turns.ts';

const FORMATS = {
  ndjson: { contentType: 'application/x-ndjson', text: exportNdjson, fileName: 'decisions.ndjson' },
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    text: exportCsv,
    fileName: 'decisions.csv',
  },
} as const;

export const exportDecisions = (deps: ServiceDeps): Handler<Routes['exportDecisions']> => {
  const turns = new ExportTurns();
  return async ({ caller, query: { format, ...query } }) => {
    const { rowCount, nextCursor, batches } = await exportPage(deps, caller, query);
    const { contentType, text, fileName } = FORMATS[format];
    return {
      status: 200,
      stream: turns.take(caller, text(batches)),
      contentType,
      headers: {
        'X-Svc-Rows': String(rowCount),
        'X-Svc-Next-Cursor': nextCursor ?? '',
        'Content-Disposition': `attachment; filename="${fileName}"`,
      },
    };
  };
};
