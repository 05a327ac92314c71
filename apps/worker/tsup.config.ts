import { defineConfig } from 'tsup';
import { copyMigrations, program } from '../../tsup.shared.ts';

export default defineConfig({
  ...program(['src/main.ts']),
  onSuccess: async () => copyMigrations(new URL('dist/migrations', import.meta.url)),
});
