/**
 * The resources that the processes of the service hold, read after each fault: a figure that only grows would end a
 * node some day.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Sample {
  readonly residentMb: number;
  readonly descriptors: number;
}

const sampleOf = (pid: number): Sample | null => {
  try {
    const [, kilobytes = ''] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return { residentMb: Number(kilobytes) / 1_024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
  } catch {
    return null;
  }
};

export class Processes {
  readonly #samples = new Map<number, Sample[]>();

  look(pids: readonly number[]): void {
    for (const pid of pids) {
      const sample = sampleOf(pid);
      if (sample !== null) this.#samples.set(pid, [...(this.#samples.get(pid) ?? []), sample]);
    }
  }

  /** One line for each process that was seen more than once. */
  describe(): string[] {
    return [...this.#samples]
      .filter(([, samples]) => samples.length > 1)
      .map(([pid, samples]) => {
        const of = (read: (sample: Sample) => number) =>
          `${read(samples[0] as Sample).toFixed(0)} at first, ${read(samples.at(-1) as Sample).toFixed(0)} at last, ` +
          `${Math.max(...samples.map(read)).toFixed(0)} at most`;
        return `process ${pid}, ${samples.length} looks: MB ${of(({ residentMb }) => residentMb)}; descriptors ${of(({ descriptors }) => descriptors)}`;
      });
  }
}
