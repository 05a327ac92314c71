import { defineConfig } from 'tsup';
import { program } from '../../tsup.shared.ts';

export default defineConfig(program({ 'create-svc-shop': 'src/main.ts' }));
