import { defineConfig } from 'tsup';
import { copyMigrations, copyVectors, program } from '../../tsup.shared.ts';

export default defineConfig({
  ...program(['src/main.ts']),
  onSuccess: async () => {
    copyVectors(new URL('dist/vectors', import.meta.url));
    copyMigrations(new URL('dist/migrations', import.meta.url));
  },
});
