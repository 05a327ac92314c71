/** `svc-admin migrate`: the schema, by the role that owns it. */
import { grantService, migrate } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

export const migrateCommand: Command = {
  name: 'migrate',
  help: `brings the database to the schema of this version, as the role that owns it. The service does that itself at start
where it runs as that role; with another one this comes first.
  --service-role NAME   gives that role what the running service needs, and no more`,
  options: { 'service-role': { type: 'string' } },
  run: async (values, env) => {
    const databaseUrl = databaseUrlFrom(env);
    const ran = await migrate(databaseUrl);
    const role = values['service-role'];
    if (typeof role === 'string') await grantService(databaseUrl, role);
    console.log(ran.length === 0 ? 'The schema was up to date.' : `Migrated: ${ran.join(', ')}.`);
    if (typeof role === 'string') console.log(`${role} may run the service.`);
    return 0;
  },
};
