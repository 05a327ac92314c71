// vitest's global setup of every project that uses a database: the database and the programs are made at the same time.
import type { TestProject } from 'vitest/node';
import setupPrograms from './process/programs.ts';
import setupDatabase from './vitest-database-setup.ts';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const made = await Promise.allSettled([setupDatabase(project), setupPrograms(project)]);
  const remove = async () => {
    for (const one of made) if (one.status === 'fulfilled') await one.value();
  };
  const failed = made.find((one) => one.status === 'rejected');
  if (failed === undefined) return remove;
  await remove();
  throw failed.reason;
}
