import { cpSync } from 'node:fs';
import { defineConfig } from 'tsup';
import { copyMigrations, copyVectors, program } from '../../tsup.shared.ts';

export default defineConfig({
  ...program(['src/main.ts', 'src/start.ts']),
  // The pages go where the program is, as the vectors do.
  onSuccess: async () => {
    cpSync(new URL('../pages/dist', import.meta.url), new URL('dist/pages', import.meta.url), {
      recursive: true,
    });
    copyVectors(new URL('dist/vectors', import.meta.url));
    copyMigrations(new URL('dist/migrations', import.meta.url));
  },
});
