import { expect, it } from 'vitest';
import { ApiError } from './api-error.ts';
import { UnavailableLog } from './unavailable-log.ts';

it('of a flood of 503 a few in each second are explained, and those left out are counted', () => {
  let nowMs = 0;
  const lines: { readonly requestId: number; readonly leftOut?: number }[] = [];
  const log = new UnavailableLog({ warn: (line: never) => void lines.push(line) } as never, () => nowMs);
  const error = new ApiError('SERVICE_UNAVAILABLE', 'gone', { detail: 'why' });
  for (let requestId = 0; requestId < 3_000; requestId++) {
    nowMs = requestId;
    log.write({ requestId }, error);
  }
  expect(lines.map(({ requestId }) => requestId)).toEqual(
    [0, 1_000, 2_000].flatMap((from) => [0, 1, 2, 3, 4].map((i) => from + i)),
  );
  expect(lines.map(({ leftOut }) => leftOut ?? 0).filter(Boolean)).toEqual([995, 995]);
  expect(lines[0]).toMatchObject({ detail: 'why' });
});
