import { defineConfig } from 'tsup';
import { library } from '../../tsup.shared.ts';

// One file for each module, so that a user of one module does not load the others.
export default defineConfig(
  library(['src/*.ts', '!src/*.test.ts'], { declared: ['src/index.ts', 'src/native.ts'] }),
);
