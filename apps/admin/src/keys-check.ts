/** `svc-admin keys check`: whether the key files can be opened, can sign, and match the keys in the database. */
import { UsageError } from '@svc/cli/command-line';
import { loadSecrets } from '@svc/config';
import { readConfig } from '@svc/process';
import { type Command, findDatabaseUrl } from './command.ts';
import { describeKey, findKeyFault, listStored, refuseOtherService } from './key-place.ts';

export const keysCheckCommand: Command = {
  name: 'keys check',
  gist: 'Opens both key sets as a start does, and signs with the first key of each',
  options: {},
  notes: [
    `It compares all keys with those that the database has recorded, and writes nothing. A start would be refused if the exit code is 1 (a
key is another one than in the database, or the first of its set has ended) or 2 (a set cannot be opened, or the database belongs to another service).`,
  ],
  run: async (_, env) => {
    const config = readConfig(env);
    // Without a path a start makes missing keys; this check must not.
    if (config.receiptKeysPath === null || config.statusKeysPath === null)
      throw new UsageError('set SVC_RECEIPT_KEYS and SVC_STATUS_KEYS: they name the key sets to check');
    const { receiptKeys, statusKeys, signers } = await loadSecrets(config);
    const url = findDatabaseUrl(env);
    const stored = url === null ? [] : await listStored(url).finally(() => signers.close());
    if (url === null) await signers.close();
    else await refuseOtherService(url, `did:web:${config.domain}`);
    let faults = 0;
    for (const { signer, published } of [receiptKeys, statusKeys])
      for (const key of published) {
        const { kid } = key;
        const isActive = kid === signer.kid;
        const known = stored.find((one) => one.kid === kid);
        const problem = findKeyFault(known, key, isActive);
        if (problem !== null) faults += 1;
        const state = isActive ? 'signs' : known === undefined ? 'new' : describeKey(known);
        console.log(`${problem === null ? 'ok   ' : 'FAULT'}  ${kid}  ${problem ?? state}`);
      }
    return faults === 0 ? 0 : 1;
  },
};
