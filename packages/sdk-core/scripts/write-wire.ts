/** Writes the types and the readers of the wire from the contract: `npm run --prefix packages/sdk-core generate`. */
import { writeFileSync } from 'node:fs';
import { contractSchemas } from './schema.ts';
import { readersText, typesText } from './wire-text.ts';

const schemas = contractSchemas();
writeFileSync(new URL('../src/wire.generated.ts', import.meta.url), typesText(schemas));
writeFileSync(new URL('../src/readers.generated.ts', import.meta.url), readersText(schemas));
