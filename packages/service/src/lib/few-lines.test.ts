import { expect, it } from 'vitest';
import { FewLines } from './few-lines.ts';

it('FewLines writes five lines of a flood in each second, and counts those left out', () => {
  let nowMs = 0;
  const lines: { readonly requestId?: number; readonly leftOut?: number }[] = [];
  const log = new FewLines(
    (line) => void lines.push(line),
    () => nowMs,
  );
  for (let requestId = 0; requestId < 3_000; requestId++) {
    nowMs = requestId;
    log.write({ requestId }, 'gone');
  }
  expect(lines.map(({ requestId }) => requestId)).toEqual(
    [0, 1_000, 2_000].flatMap((from) => [0, 1, 2, 3, 4].map((i) => from + i)),
  );
  expect(lines.map(({ leftOut }) => leftOut ?? 0).filter(Boolean)).toEqual([995, 995]);
});
