/** `svc-admin migrate`: migrates the schema, as the role that owns it. */
import { UsageError } from '@svc/cli/command-line';
import { checkServer, grantRunner, grantService, migrate } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  gist: 'Migrates the database to the schema of this version, as the role that owns the tables',
  options: {
    'service-role': {
      value: 'NAME',
      text: 'gives this role the rights that the running service needs, and no more',
    },
    'runner-role': {
      value: 'NAME',
      text: 'gives this role the rights that the conformance runner needs: the queue of runs, and nothing else',
    },
  },
  notes: [
    'A service that runs as the owner migrates the database itself when it starts. Name each role once: later migrations keep its rights.',
    'If another session holds a table, each migration waits for it, up to ten minutes. Decisions go on meanwhile.',
  ],
  run: async (values, env) => {
    const databaseUrl = databaseUrlFrom(env);
    const { 'service-role': role, 'runner-role': runner } = values;
    if (role !== undefined && role === runner)
      throw new UsageError(
        '--service-role and --runner-role must name different roles: each takes away the rights that the other gives',
      );
    // The migration takes a session lock, so connections must not share server sessions.
    await checkServer(databaseUrl, { mustBeDurable: false });
    const waited = new Set<string>();
    const ran = await migrate(databaseUrl, {
      onWait(migration) {
        if (waited.has(migration)) return;
        waited.add(migration);
        console.error(
          `${migration} waits for a table that another session holds, such as pg_dump or svc-admin fsck. It tries again for ten minutes.`,
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
