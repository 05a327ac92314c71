/**
 * The OpenAPI 3.1 document, generated from the routes. `docs/openapi.json` is the committed form. The API serves the
 * document with its own address in `servers`.
 */
import {
  OpenAPIRegistry,
  OpenApiGeneratorV31,
  type ResponseConfig,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi';
import { z } from 'zod';
import { ERROR_MEANING, errorBody } from '../error-codes.ts';
import { type EmptyResponse, errorCodesOf, type Route, type SuccessResponse } from '../route.ts';
import { routes, TAGS } from '../routes.ts';
import { badRequestMessage } from './bad-request.ts';
import {
  COMMON_HEADERS,
  ERROR_RESPONSES,
  errorResponse,
  HEADERS,
  SECURITY_SCHEMES,
  securityOf,
  statusOf,
} from './components.ts';
import { INFO } from './info.ts';

export { badRequestMessage, badRequestOf } from './bad-request.ts';

type Responses = RouteConfig['responses'];

const contentOf = (
  declared: Exclude<SuccessResponse, EmptyResponse>,
): NonNullable<ResponseConfig['content']> => {
  if (declared.kind === 'json') return { 'application/json': { schema: declared.schema } };
  const schemaOf = (type: string) =>
    declared.kind === 'stream' ? declared.lineSchemas?.[type] : declared.schema;
  return Object.fromEntries(
    declared.contentTypes.map((type) => [type, { schema: schemaOf(type) ?? plainSchemaOf(type) }]),
  );
};

/**
 * The schema of content whose form the service does not define: an object for JSON, binary for non-text (OpenAPI 3.1
 * §4.8.14.3).
 */
const plainSchemaOf = (type: string) => {
  if (/[/+]json$/.test(type)) return { type: 'object' as const };
  return type === 'application/octet-stream' ? { contentMediaType: type } : { type: 'string' as const };
};

const successResponse = (declared: SuccessResponse): ResponseConfig => ({
  description: declared.description,
  headers: {
    ...COMMON_HEADERS,
    ...Object.fromEntries(
      Object.entries(declared.headers ?? {}).map(([name, description]) => [
        name,
        { description, schema: { type: 'string' as const } },
      ]),
    ),
  },
  ...(declared.kind !== 'empty' && { content: contentOf(declared) }),
});

const responsesOf = (route: Route): Responses => {
  const responses: Responses = {};
  for (const [status, declared] of Object.entries(route.responses))
    responses[status] = successResponse(declared);
  for (const code of errorCodesOf(route)) {
    const own = route.errors[code];
    if (code === 'INVALID_REQUEST')
      responses[statusOf(code)] = errorResponse(code, own ?? ERROR_MEANING[code], badRequestMessage(route));
    else
      responses[statusOf(code)] =
        own === undefined ? { $ref: `#/components/responses/${code}` } : errorResponse(code, own);
  }
  return responses;
};

/** Header names as people write them: `idempotency-key` → `Idempotency-Key`. */
const withHeaderCase = (headers: z.ZodObject): z.ZodObject =>
  z.object(
    Object.fromEntries(
      Object.entries(headers.shape).map(([name, schema]) => [
        name.replace(/(^|-)[a-z]/g, (start) => start.toUpperCase()),
        schema,
      ]),
    ),
  );

const operation = (id: string, route: Route): RouteConfig => ({
  method: route.method,
  path: route.path,
  operationId: id,
  tags: [route.tag],
  summary: route.summary,
  description: route.description,
  security: securityOf(route.auth),
  request: {
    ...(route.params && { params: route.params }),
    ...(route.query && { query: route.query }),
    ...(route.headers && { headers: withHeaderCase(route.headers) }),
    ...(route.body && {
      body: {
        // An empty body is read as an object without members.
        required: !route.body.safeParse({}).success,
        content: { 'application/json': { schema: route.body } },
      },
    }),
  },
  responses: responsesOf(route),
});

/** Builds the document. `serverUrl` is the API's address, without a trailing slash. */
export const buildOpenApiDocument = (serverUrl = '/') => {
  const registry = new OpenAPIRegistry();
  for (const [name, scheme] of Object.entries(SECURITY_SCHEMES))
    registry.registerComponent('securitySchemes', name, scheme);
  for (const [name, header] of Object.entries(HEADERS)) registry.registerComponent('headers', name, header);
  for (const [name, response] of Object.entries(ERROR_RESPONSES))
    registry.registerComponent('responses', name, response);
  for (const [id, route] of Object.entries(routes)) registry.registerPath(operation(id, route));
  return new OpenApiGeneratorV31([
    { type: 'schema', schema: errorBody },
    ...registry.definitions,
  ]).generateDocument({
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: serverUrl }],
    tags: TAGS.map((tag) => ({ ...tag })),
  });
};

/** The text of `docs/openapi.json`. */
export const openApiText = (): string => `${JSON.stringify(buildOpenApiDocument(), null, 2)}\n`;
