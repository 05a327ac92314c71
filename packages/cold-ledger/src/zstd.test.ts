import { expect, it, vi } from 'vitest';
import { compressors, decompress, loadZstd } from './zstd.ts';

it('zstd is initialised once in a process, even if its module is loaded twice', async () => {
  const loaded = loadZstd();
  await loaded;
  const packed = compressors.ZSTD(Buffer.from('abc'.repeat(1_000)));
  vi.resetModules();
  const again: typeof import('./zstd.ts') = await import('./zstd.ts');
  expect(again.loadZstd).not.toBe(loadZstd);
  expect(again.loadZstd()).toBe(loaded);
  expect(Buffer.from(decompress(packed, 3_000)).toString()).toBe('abc'.repeat(1_000));
});
