/** The JSON Schemas of the vectors, compiled. */
import { Ajv2020, type AnySchemaObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { readVectorFile } from './published.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });

export const compileSchema = (name: string): ValidateFunction =>
  ajv.getSchema(idOf(name)) ?? ajv.compile(readVectorFile<AnySchemaObject>(`schema/${name}.schema.json`));

const idOf = (name: string): string => `https://svc.example/vectors/schema/${name}.schema.json`;

/** The schema of a Receipt's body, as defined in the schema of the evaluate vectors. */
export const compileBodySchema = (): ValidateFunction => {
  compileSchema('evaluate');
  return ajv.compile({ $ref: `${idOf('evaluate')}#/$defs/body` });
};
