import { defineConfig } from 'tsup';
import { library } from '../../tsup.shared.ts';

// The CommonJS build finds the vectors beside itself, as the ESM build does.
export default defineConfig({
  ...library(['src/index.ts', 'src/node.ts'], { beside: ['vectors'] }),
  platform: 'node',
  shims: true,
});
