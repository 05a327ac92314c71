/** The frame of a benchmark: its folder, its progress output, the clean-up, and the exit code. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cleanup } from './cleanup.ts';
import type { Place } from './contestants.ts';

/** Prints a line, with the seconds since the benchmark began. */
export type Progress = (line: string) => void;

export interface Benchmark {
  readonly place: Place;
  readonly progress: Progress;
}

export interface Frame {
  /** What the benchmark reads from `/proc`; where that cannot be read, it does not begin. */
  readonly reads?: 'CPU times' | 'memory';
  /** Prints the results so far, also after a failure. Called before anything is closed. */
  readonly atEnd?: (progress: Progress) => void;
}

/** Ends with 1 where `measure` throws, and prints why. `measure` sets the exit code where a bar is missed. */
export async function runBenchmark(
  measure: (benchmark: Benchmark) => Promise<void>,
  { reads, atEnd }: Frame = {},
): Promise<void> {
  if (reads !== undefined && process.platform !== 'linux') {
    console.error(`The benchmark reads ${reads} from /proc, so it runs on Linux only.`);
    process.exit(2);
  }
  const began = performance.now();
  const progress = (line: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  const cleanup = new Cleanup();
  try {
    const folder = mkdtempSync(join(realpathSync(tmpdir()), 'svc-bench-'));
    cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
    await measure({ place: { folder, cleanup }, progress });
  } catch (problem) {
    console.error(problem instanceof Error ? problem.message : problem);
    process.exitCode = 1;
  } finally {
    atEnd?.(progress);
    await cleanup.run();
  }
}
