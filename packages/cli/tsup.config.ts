import { defineConfig } from 'tsup';
import { program } from '../../tsup.shared.ts';

export default defineConfig(
  program({ 'svc-receipt': 'src/receipt/main.ts', 'svc-conformance': 'src/conformance/main.ts' }, 'vectors'),
);
