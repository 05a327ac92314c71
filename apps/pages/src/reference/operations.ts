/** The operations of an OpenAPI document, with the members that the reference needs. */
import type { OpenApiDocument } from './openapi.ts';

export interface Area {
  readonly name: string;
  readonly description: string;
  readonly operations: readonly OperationLine[];
}

export interface OperationLine {
  readonly id: string;
  /** `POST` */
  readonly method: string;
  readonly path: string;
  readonly summary: string;
}

/** Operations by tag, in the order of the document. */
export const listOperations = ({ tags, paths }: OpenApiDocument): readonly Area[] =>
  tags.map(({ name, description = '' }) => ({
    name,
    description,
    operations: Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation.tags.includes(name))
        .map(([method, { operationId: id, summary }]) => ({
          id,
          method: method.toUpperCase(),
          path,
          summary,
        })),
    ),
  }));
