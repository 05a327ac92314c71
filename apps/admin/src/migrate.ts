/** `svc-admin migrate`: migrates the schema, as the role that owns it. */
import { UsageError } from '@svc/cli/command-line';
import { checkServer, grantRunner, grantService, migrate } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  gist: 'Brings the database to the schema of this version, as the role that owns it',
  options: {
    'service-role': { value: 'NAME', text: 'gives that role what the running service needs, and no more' },
    'runner-role': {
      value: 'NAME',
      text: 'gives that role what the conformance runner needs: the queue of runs, and nothing else',
    },
  },
  notes: [
    'Where the service runs as the owner it does that itself at its start. Roles are named once: later migrations keep their rights.',
    'A table that somebody reads is waited for, ten minutes for each migration; decisions go on meanwhile.',
  ],
  run: async (values, env) => {
    const databaseUrl = databaseUrlFrom(env);
    const { 'service-role': role, 'runner-role': runner } = values;
    if (role !== undefined && role === runner)
      throw new UsageError(
        '--service-role and --runner-role must differ: one would take what the other gave',
      );
    // The migration takes a session lock, so connections must not share server sessions.
    await checkServer(databaseUrl, { mustBeDurable: false });
    const waited = new Set<string>();
    const ran = await migrate(databaseUrl, {
      onWait(migration) {
        if (waited.has(migration)) return;
        waited.add(migration);
        console.error(
          `${migration} waits for a table that somebody else holds, as pg_dump and svc-admin fsck do; it tries again for ten minutes.`,
        );
      },
    });
    console.log(ran.length === 0 ? 'The schema was up to date.' : `Migrated: ${ran.join(', ')}.`);
    if (typeof role === 'string') {
      await grantService(databaseUrl, role);
      console.log(`${role} may run the service.`);
    }
    if (typeof runner === 'string') {
      await grantRunner(databaseUrl, runner);
      console.log(`${runner} may run conformance runs.`);
    }
    return 0;
  },
};
