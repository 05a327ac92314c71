/** Checks before any measurement that each contestant does the job. */
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import type { World } from '../fixtures/world.ts';
import type { Contestant } from './contestants.ts';

const RACERS = 64;

/** Throws when the contestant refuses a good request, allows a bad one, or allows one Proof twice. */
export async function examine({ name, url }: Contestant, world: World): Promise<void> {
  const send = (body: Buffer) => isAllowed(url, world.relyingParty.apiKey, body);
  const [good, forged, raced] = new VerifyRequests(world).sign(3);
  if (good === undefined || forged === undefined || raced === undefined)
    throw new Error('no requests to send');
  demand(await send(good), `${name} does not allow a good request`);
  demand(!(await send(good)), `${name} allows a Proof again`);
  demand(!(await send(forge(forged, 'grant'))), `${name} allows a forged Grant`);
  demand(!(await send(forge(forged, 'proof'))), `${name} allows a forged Proof`);
  const allowed = (await Promise.all(Array.from({ length: RACERS }, () => send(raced)))).filter(Boolean);
  demand(
    allowed.length === 1,
    `${name} allows one Proof sent ${RACERS} times at once ${allowed.length} times`,
  );
}

async function isAllowed(url: string, apiKey: string, body: Buffer): Promise<boolean> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
    body: new Uint8Array(body),
  });
  const answer = (await response.json()) as { decision?: unknown };
  return response.status === 200 && answer.decision === 'ALLOW';
}

/** Changes a character early in the signature. */
function forge(body: Buffer, member: 'grant' | 'proof'): Buffer {
  const request = JSON.parse(body.toString()) as Record<string, string>;
  const jws = request[member] ?? '';
  const place = jws.lastIndexOf('.') + 10;
  const other = jws[place] === 'A' ? 'B' : 'A';
  return Buffer.from(
    JSON.stringify({ ...request, [member]: jws.slice(0, place) + other + jws.slice(place + 1) }),
  );
}

function demand(condition: boolean, problem: string): void {
  if (!condition) throw new Error(problem);
}
