import { defineConfig } from 'tsup';
import { program } from '../../tsup.shared.ts';

export default defineConfig(
  program(['src/main.ts', 'src/start.ts', 'src/read-thread.ts'], 'pages', 'vectors', 'migrations'),
);
