/**
 * `npm run new -- route AREA/NAME | migration NAME | check ID-NAME | profile ID`: writes the files with which such a
 * change begins. They compile; their tests fail and say what to write.
 */
import { newCheck } from './check.ts';
import { newMigration } from './migration.ts';
import { newProfile } from './profile.ts';
import { newRoute } from './route.ts';

const USAGE = `Usage: npm run new -- route AREA/NAME       for example orgs/listNotes
       npm run new -- migration NAME         for example org-notes
       npm run new -- check ID-NAME          for example p21-resource-not-blocked
       npm run new -- profile ID             for example svc-base-v3`;

const makers = { route: newRoute, migration: newMigration, check: newCheck, profile: newProfile };

const [kind = '', name = '', ...more] = process.argv.slice(2);
if (kind === '--help') {
  console.log(USAGE);
  process.exit(0);
}
const make = Object.hasOwn(makers, kind) ? makers[kind as keyof typeof makers] : undefined;
if (make === undefined || name === '' || more.length > 0) {
  console.error(USAGE);
  process.exit(2);
}
try {
  console.log(make(name).join('\n'));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}
