/** The published JSON Schemas of messages and reports. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { ValidateFunction } from 'ajv';
import Ajv2020 from 'ajv/dist/2020.js';

const require = createRequire(import.meta.url);
const read = (name: string) =>
  JSON.parse(readFileSync(require.resolve(`@svc/vectors/schema/${name}.schema.json`), 'utf8'));

const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
ajv.addSchema(read('evaluate'));
ajv.addSchema(read('conformance-http'));
ajv.addSchema(read('conformance-report'));

const BASE = 'https://svc.example/vectors/schema/';

/** The validator of `#/$defs/<name>` of the messages' schema, or of another schema. */
export const compile = (reference: string): ValidateFunction => {
  const validate = ajv.getSchema(`${BASE}${reference}`);
  if (validate === undefined) throw new Error(`there is no schema ${reference}`);
  return validate;
};
