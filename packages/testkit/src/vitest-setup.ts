// vitest's global setup of every project that uses a database: the database and the programs are made at the same time.
import type { TestProject } from 'vitest/node';
import setupPrograms from './process/programs.ts';
import setupDatabase from './vitest-database-setup.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [removeDatabase, removePrograms] = await Promise.all([
    setupDatabase(project),
    setupPrograms(project),
  ]);
  return async () => {
    removePrograms();
    await removeDatabase();
  };
}
