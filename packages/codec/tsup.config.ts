import { defineConfig } from 'tsup';
import { library } from '../../tsup.shared.ts';

// A file for each module, so that who uses one of them is not sent the others.
export default defineConfig(
  library(['src/*.ts', '!src/*.test.ts'], { declared: ['src/index.ts', 'src/native.ts'] }),
);
