/** One stretch of load with autocannon, and its cost while the window was open. */
import autocannon from 'autocannon';
import { cpuMsOfMachine, cpuMsOfTree } from './cpu.ts';
import type { LoadOrder, LoadReport } from './messages.ts';
import { percentile } from './percentile.ts';

const SHOWN_CHARS = 200;
/** Never reached: the load ends with the window. */
const LONGEST_SECONDS = 600;

interface Costs {
  readonly atMs: number;
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
  readonly loadCpuMs: number;
  readonly machineCpuMs: number;
}

/** Sends every request once. When they run out, the window closes early. */
export function runLoad(order: LoadOrder, apiKey: string, requests: readonly Buffer[]): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    const latenciesMs: number[] = [];
    const others: Record<string, number> = {};
    let allowed = 0;
    let next = 0;
    let opened: Costs | null = null;
    let closed: Costs | null = null;

    const close = () => {
      if (closed !== null) return;
      clearTimeout(timer);
      closed = readCosts(order);
      instance.stop();
    };
    const open = () => {
      opened = readCosts(order);
      timer = setTimeout(close, order.windowMs);
    };
    let timer = setTimeout(open, order.leadInMs);

    const onResponse = (status: number, body: string) => {
      if (closed !== null) return;
      if (status !== 200 || !body.includes('"decision":"ALLOW"')) {
        const what = `${status} ${body.slice(0, SHOWN_CHARS)}`;
        others[what] = (others[what] ?? 0) + 1;
      } else if (opened !== null) allowed++;
    };
    const setupRequest = (request: autocannon.Request): autocannon.Request => {
      const body = requests[next++];
      if (body === undefined) close();
      return { ...request, body: body ?? 'the window is closed' };
    };
    const instance = autocannon(
      {
        url: order.url,
        connections: order.connections,
        duration: LONGEST_SECONDS,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        requests: [{ setupRequest, onResponse }],
      },
      (problem, result) => {
        clearTimeout(timer);
        if (problem) reject(problem as Error);
        else if (opened === null || closed === null)
          reject(new Error(`the load ended before its window: ${result.errors} errors`));
        else
          resolve(
            summarise({ opened, closed, latenciesMs, allowed, others: { ...others, ...errorsOf(result) } }),
          );
      },
    );
    instance.on('response', (_client, _status, _bytes, latencyMs) => {
      if (opened !== null && closed === null) latenciesMs.push(latencyMs);
    });
  });
}

const errorsOf = ({ errors, timeouts }: autocannon.Result): Record<string, number> =>
  errors === 0 ? {} : { [`no answer (${timeouts} timed out)`]: errors };

function readCosts({ serverPid, postgresPid }: LoadOrder): Costs {
  const { user, system } = process.cpuUsage();
  return {
    atMs: performance.now(),
    serverCpuMs: cpuMsOfTree(serverPid),
    postgresCpuMs: cpuMsOfTree(postgresPid),
    loadCpuMs: (user + system) / 1000,
    machineCpuMs: cpuMsOfMachine(),
  };
}

interface Observed extends Pick<LoadReport, 'allowed' | 'others'> {
  readonly opened: Costs;
  readonly closed: Costs;
  readonly latenciesMs: readonly number[];
}

function summarise({ opened, closed, latenciesMs, allowed, others }: Observed): LoadReport {
  const serverCpuMs = closed.serverCpuMs - opened.serverCpuMs;
  const postgresCpuMs = closed.postgresCpuMs - opened.postgresCpuMs;
  const loadCpuMs = closed.loadCpuMs - opened.loadCpuMs;
  const ours = serverCpuMs + postgresCpuMs + loadCpuMs;
  return {
    seconds: (closed.atMs - opened.atMs) / 1000,
    allowed,
    others,
    p50Ms: percentile(latenciesMs, 50),
    p99Ms: percentile(latenciesMs, 99),
    serverCpuMs,
    postgresCpuMs,
    loadCpuMs,
    elsewhereCpuMs: Math.max(0, closed.machineCpuMs - opened.machineCpuMs - ours),
  };
}
