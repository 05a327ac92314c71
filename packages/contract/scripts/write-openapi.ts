/** Writes docs/openapi.json from the routes: `npm run --prefix packages/contract openapi`. */
import { writeFileSync } from 'node:fs';
import { openApiText } from '../src/openapi/document.ts';

writeFileSync(new URL('../../../docs/openapi.json', import.meta.url), openApiText());
