/**
 * Reports the Receipts of a cold day whose pins differ from the logs of their budgets, if the sums of the two differ
 * (pin-sums.ts). Reads the day again, and replays the logs of those Grants that may differ.
 *
 * Other checks report a movement or a Receipt without its counterpart, an unsigned Receipt and a log with a gap.
 */
import type { ColdDayReader } from '@svc/cold-ledger';
import type { GrantId } from '@svc/protocol';
import type { CheckContext } from '../check.ts';
import type { PinSums } from './pin-sums.ts';
import { differencesOf, type Pin, pinOfEvent, pinOfReceipt } from './pins.ts';
import { readSigned } from './receipts.ts';
import { replay } from './replay.ts';

/** Number of Receipts in memory: some 30 MB. */
const AT_ONCE = 65_536;
const NAMED = 20;

/** Pins of one Grant, by Receipt. */
type OfGrant = Map<string, Pin>;
type Chunk = Map<GrantId, OfGrant>;

/** Goes through the day in chunks of Receipts until one of them has faults, which it reports. */
export const namePins = async (
  context: CheckContext,
  reader: ColdDayReader,
  sums: PinSums,
  day: string,
  atOnce = AT_ONCE,
): Promise<void> => {
  if (sums.differ(day))
    for await (const chunk of chunksOf(context, reader, (grantId) => sums.mayDiffer(day, grantId), atOnce))
      if (await nameOf(context, chunk, day)) break;
  sums.forget(day);
};

async function* chunksOf(
  context: CheckContext,
  reader: ColdDayReader,
  isAsked: (grantId: string) => boolean,
  atOnce: number,
): AsyncGenerator<Chunk> {
  let chunk: Chunk = new Map();
  let size = 0;
  for await (const rows of reader.receipts())
    for (const { decision, grant_id: grantId, jws } of rows) {
      if (decision !== 'ALLOW' || grantId === null || !isAsked(grantId)) continue;
      const signed = readSigned(context, jws);
      const pin = typeof signed === 'string' ? null : pinOfReceipt(signed);
      if (pin === null) continue;
      const ofGrant: OfGrant = chunk.get(pin.grantId) ?? new Map();
      chunk.set(pin.grantId, ofGrant.set(pin.receiptId, pin));
      size += 1;
      if (size < atOnce) continue;
      yield chunk;
      chunk = new Map();
      size = 0;
    }
  yield chunk;
}

/** Whether any fault was reported. */
const nameOf = async (context: CheckContext, chunk: Chunk, day: string): Promise<boolean> => {
  let found = 0;
  for (const [grantId, pins] of chunk)
    for await (const { version, problems } of differingOf(context, grantId, pins)) {
      found += 1;
      if (found > NAMED) continue;
      for (const problem of problems) context.report(grantId, `version ${version}: ${problem}`);
    }
  if (found > NAMED)
    context.report(day, `${found - NAMED} more of its Receipts differ from the logs of their budgets`);
  return found > 0;
};

interface Differing {
  readonly version: number;
  readonly problems: readonly string[];
}

/** Replays the log until it has reached every pin in `pins`. */
async function* differingOf(
  { query }: CheckContext,
  grantId: GrantId,
  pins: OfGrant,
): AsyncGenerator<Differing> {
  for await (const page of replay(query, grantId, () => {})) {
    for (const replayed of page) {
      const { event } = replayed;
      const said = event.cause === 'consume' ? pins.get(event.receiptId) : undefined;
      if (said === undefined) continue;
      pins.delete(event.receiptId);
      const problems = [...differencesOf(said, pinOfEvent(replayed))];
      if (problems.length > 0) yield { version: event.version, problems };
    }
    if (pins.size === 0) return;
  }
}
