/** Writes src/wire.generated.ts from the contract: `pnpm --filter @svc/sdk-core generate`. */
import { writeFileSync } from 'node:fs';
import { contractSchemas, wireTypesText } from './wire-types.ts';

writeFileSync(new URL('../src/wire.generated.ts', import.meta.url), wireTypesText(contractSchemas()));
