/** The load process: signs requests and sends them, apart from the measured processes and the harness. */
import { endWithParent } from '../fixtures/program-environment.ts';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { readWorld } from '../fixtures/world.ts';
import type { Order, Report } from './messages.ts';
import { runLoad } from './run-load.ts';

endWithParent();
const world = readWorld(process.argv[2] ?? '');
const verifyRequests = new VerifyRequests(world);
let signed: readonly Buffer[] = [];

async function obey(order: Order): Promise<Report> {
  if (order.kind === 'load')
    return { kind: 'loaded', ...(await runLoad(order, world.relyingParty.apiKey, signed)) };
  signed = [];
  signed = verifyRequests.sign(order.count);
  return { kind: 'signed' };
}

process.on('message', (order: Order) => {
  obey(order).then(
    (report) => process.send?.(report),
    (problem: unknown) => process.send?.({ kind: 'failed', problem: String(problem) } satisfies Report),
  );
});
