import { defineConfig } from 'tsup';
import { library } from '../../tsup.shared.ts';

export default defineConfig(library(['src/index.ts', 'src/explain/index.ts', 'src/native.ts']));
