/** The harness's side of the load process, which takes one order at a time. */
import { join } from 'node:path';
import type { LoadOrder, LoadReport, Order, Report } from '../load/messages.ts';
import { builtProgram, type Field, type Place } from './contestants.ts';
import { type Program, startProgram } from './program.ts';

export class LoadProcess {
  private constructor(private readonly program: Program) {}

  static start({ folder, cleanup }: Place, { worldFile }: Pick<Field, 'worldFile'>): LoadProcess {
    const command = [builtProgram('load'), worldFile];
    const request = { name: 'the load process', command, logFile: join(folder, 'load.log') };
    return new LoadProcess(startProgram(request, cleanup));
  }

  async sign(count: number): Promise<void> {
    await this.ask({ kind: 'sign', count });
  }

  async load(order: LoadOrder): Promise<LoadReport> {
    const { kind, ...report } = await this.ask({ kind: 'load', ...order });
    if (kind !== 'loaded') throw new Error(`the load process answered ${kind}`);
    return report as LoadReport;
  }

  private async ask(order: Order): Promise<Report> {
    const report = await askProgram<Report>(this.program, order);
    if (report.kind === 'failed') throw new Error(report.problem);
    return report;
  }
}

/** Sends a message to a program and resolves with the next message from it. */
export function askProgram<Answer>(
  { process: child, failure }: Program,
  message: object | number,
): Promise<Answer> {
  const answer = new Promise<Answer>((resolve) => {
    child.once('message', (received) => resolve(received as Answer));
  });
  child.send(message);
  return Promise.race([answer, failure]);
}
