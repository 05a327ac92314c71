/**
 * `npm run bench -- day`: the cost of closing a large day with verifies beside it, of proving that a Receipt is in it,
 * and of proving a whole database. Ends with 1 when a bar is missed.
 */
import { join } from 'node:path';
import { VerifyRequests } from '../fixtures/verify-requests.ts';
import { makeWorld, type World } from '../fixtures/world.ts';
import { type ApiNode, type Place, startApiNode } from '../harness/contestants.ts';
import { type Database, startDatabase } from '../harness/database.ts';
import { describeLoad, describeMachine } from '../harness/report.ts';
import { runBenchmark } from '../harness/run-benchmark.ts';
import { printRows, type Row } from '../ledger/table.ts';
import { measureClosing } from './close-day.ts';
import { fillYesterday, pickReceiptIds } from './fill-day.ts';
import { dataDirOf, measureFsck, storeDecisions } from './fsck.ts';
import { measureInclusion } from './inclusion.ts';
import { readDayOptions } from './options.ts';

const AGENTS = 20;
const INCLUSIONS = 2_000;
/** The JWS of a real Receipt. */
async function takeReceipt(node: ApiNode, world: World): Promise<string> {
  const [body] = new VerifyRequests(world).sign(1);
  const headers = {
    authorization: `Bearer ${world.relyingParty.apiKey}`,
    'content-type': 'application/json',
  };
  const response = await fetch(node.url, { method: 'POST', headers, body: body?.toString() ?? '' });
  const answer = (await response.json()) as { receipt?: string };
  if (answer.receipt === undefined) throw new Error(`POST /verify: ${response.status}`);
  return answer.receipt;
}

interface Started {
  readonly database: Database;
  readonly node: ApiNode;
  readonly world: World;
}

async function start(place: Place, name: string, api: string): Promise<Started> {
  const database = await startDatabase(join(place.folder, `${name}-database`), place.cleanup);
  const node = await startApiNode(place, { name, api, databaseUrl: database.url });
  return { database, node, world: await makeWorld(node, AGENTS) };
}

const options = readDayOptions();

await runBenchmark(
  async ({ place, progress }) => {
    const { api, receipts, decisions, rate, rounds } = options;
    progress(`${describeMachine()}, ${describeLoad()}`);
    const rows: Row[] = [];

    if (decisions > 0) {
      const { database, node, world } = await start(place, 'fsck', api);
      await storeDecisions({ place, node, database, world, progress, count: decisions });
      rows.push(await measureFsck(database.url, dataDirOf(place, 'fsck'), options, node.baseUrl));
      await node.stop();
    }

    const { database, node, world } = await start(place, 'day', api);
    const jws = await takeReceipt(node, world);
    progress(`filling a day with ${receipts.toLocaleString('en')} Receipts of ${jws.length} characters`);
    const { did: relyingParty, keyId } = world.relyingParty;
    await fillYesterday(database.url, { receipts, jws, relyingParty, keyId });
    const closer = await startApiNode(place, { name: 'day', api, databaseUrl: database.url, first: node });
    progress(`closing it with ${rate} verifies a second beside, ${describeLoad()}`);
    const { url: databaseUrl, postgresPid } = database;
    const run = { databaseUrl, postgresPid, world, verifying: node, rate, rounds, progress };
    rows.push(...(await measureClosing('closed by another process', { ...run, closing: closer })));
    rows.push(...(await measureClosing('closed by the verifying node', { ...run, closing: node })));
    progress('asking for inclusion proofs');
    rows.push(await measureInclusion(node, await pickReceiptIds(database.url, INCLUSIONS, receipts)));

    console.log(printRows(rows));
    progress(`${describeLoad()} at the end`);
    if (rows.some(({ isMissed }) => isMissed)) process.exitCode = 1;
  },
  { reads: 'memory' },
);
