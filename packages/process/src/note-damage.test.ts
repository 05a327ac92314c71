import type { Sha256 } from '@svc/protocol';
import { expect, it } from 'vitest';
import { damageNoter } from './note-damage.ts';

const hash = `sha256:${'0'.repeat(64)}` as Sha256;
const world = (size: number | null = 7) => {
  const noted: unknown[][] = [];
  const lines: string[] = [];
  let nowMs = 0;
  const note = damageNoter({
    objects: { head: async () => size },
    store: {
      coldDays: {
        listLatestManifests: async () => [{ day: '2026-01-01', manifestHash: hash }],
        noteUnread: async (...args) => {
          noted.push(args);
        },
      },
    },
    log: { error: (event) => lines.push(event), warn: (event) => lines.push(event) },
    nowMs: () => nowMs,
  });
  return { note, noted, lines, pass: (ms: number) => (nowMs += ms) };
};

it('damage of a day is recorded once in ten minutes, however many readers find it, and separately for each day', async () => {
  const { note, noted, pass } = world();
  for (let i = 0; i < 5; i++) note('2026-01-01', hash, 'nothing is stored under x');
  note('2026-01-02', hash, 'other bytes');
  await expect.poll(() => noted).toHaveLength(2);
  expect(noted[0]).toEqual(['2026-01-01', hash, 'a reader found: nothing is stored under x']);
  pass(600_000);
  note('2026-01-01', hash, 'still');
  await expect.poll(() => noted).toHaveLength(3);
});

it('a process with another store records no damage, and logs cold.not_noted', async () => {
  const { note, noted, lines } = world(null);
  note('2026-01-01', hash, 'nothing is stored under x');
  await expect.poll(() => lines).toEqual(['cold.not_noted']);
  expect(noted).toEqual([]);
});
