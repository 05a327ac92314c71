/**
 * `svc-admin service-did`: shows the service that the database belongs to; `service-did change` gives that service a
 * new DID.
 */
import { UsageError } from '@svc/cli/command-line';
import { parseDidWeb } from '@svc/protocol';
import { changeServiceDid, countIssued, type IssuedUnderDid, listServiceDids } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

export const serviceDidCommand: Command = {
  name: 'service-did',
  gist: 'Shows the DID of the service that the database belongs to, and its former DIDs',
  options: {},
  notes: ['A process that is configured with another DID (SVC_DOMAIN) does not start.'],
  run: async (_, env) => {
    const dids = await listServiceDids(databaseUrlFrom(env));
    for (const { did, sinceMs } of dids) console.log(`${did}  since ${new Date(sinceMs).toISOString()}`);
    if (dids.length === 0) console.log('None yet: the first start of the service records its DID.');
    return dids.length === 0 ? 1 : 0;
  },
};

export const serviceDidChangeCommand: Command = {
  name: 'service-did change',
  operand: 'DID',
  gist: 'Gives the service of this database another DID, and says what happens to everything that was issued',
  options: { apply: { text: 'makes the change; without it nothing is changed, and the exit code is 1' } },
  notes: [
    'Stop every process first, and set SVC_DOMAIN before you start them again. The audit log records the change.',
  ],
  run: async (values, env, did) => {
    const databaseUrl = databaseUrlFrom(env);
    if (parseDidWeb(did)?.path.length !== 0)
      throw new UsageError(
        `${did} is not the DID of a service: it must be did:web:<domain>, with the domain as in SVC_DOMAIN`,
      );
    const from = (await listServiceDids(databaseUrl)).at(-1)?.did ?? null;
    console.log(describeChange(from, did, await countIssued(databaseUrl)));
    if (values.apply !== true) {
      console.log('Nothing was changed. Stop every process, then repeat with --apply.');
      return 1;
    }
    await changeServiceDid(databaseUrl, did);
    console.log(`The service of this database is ${did}. Set SVC_DOMAIN before you start it.`);
    return 0;
  },
};

const describeChange = (
  from: string | null,
  to: string,
  { receipts, checkpoints, grants, managedPrincipals }: IssuedUnderDid,
): string =>
  [
    `From ${from ?? 'no DID'} to ${to}:`,
    `  ${receipts} Receipts and ${checkpoints} checkpoints stay as they were signed. Those under a former DID can be verified only with its`,
    '  DID document: keep serving that document under its domain, keep copies of it, and tell relying parties and monitors.',
    `  ${grants} Grants and ${managedPrincipals} managed Principals name a former domain. Nobody can resolve these Principals under the new one:`,
    '  register them anew, and let them issue new Grants.',
    '  Status lists are signed as the former service: Grants that name them are denied until they are issued anew.',
    '  The fence (SVC_FENCE) belongs to the former DID: run svc-admin fence reset with the new SVC_DOMAIN.',
  ].join('\n');
