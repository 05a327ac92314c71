import type { Caller } from '@svc/service';
import { expect, it } from 'vitest';
import { ExportTurns } from './export-turns.ts';

const caller = (subject: string) => ({ class: 'rp', subject }) as unknown as Caller;

async function* endless(): AsyncGenerator<string> {
  for (;;) yield 'row\n';
}

it('a subject has three exports at once; others are not in its way, and one that ended, was broken off or failed makes room', async () => {
  const turns = new ExportTurns();
  const begin = async (subject: string) => {
    const parts = turns.take(caller(subject), endless());
    await parts.next();
    return parts;
  };
  const running = await Promise.all(['a', 'a', 'a'].map(begin));
  await expect(begin('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await begin('b');
  await running[0]?.return(undefined);
  await begin('a');
  await expect(begin('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await running[1]?.throw(new Error('cut')).catch(() => {});
  await begin('a');
});
