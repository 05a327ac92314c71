/**
 * Code samples that call an operation from a shell, from TypeScript and from Python, with the examples of the document.
 */
import { quoteForShell } from '../shared/quote-for-shell.ts';
import type { OpenApiDocument, Operation, Parameter, Sample, Schema } from './openapi.ts';

interface Call {
  readonly method: string;
  readonly url: string;
  /** The environment variable that holds the credential; null where none is sent. */
  readonly credential: string | null;
  readonly body: unknown;
}

/** Adds samples to every operation of the document, which Redoc shows. */
export const withSamples = (document: OpenApiDocument): OpenApiDocument => ({
  ...document,
  paths: Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          { ...operation, 'x-codeSamples': samplesOf(callOf(document, path, method, operation)) },
        ]),
      ),
    ]),
  ),
});

const samplesOf = (call: Call): readonly Sample[] => [
  { lang: 'Shell', label: 'curl', source: asCurl(call) },
  { lang: 'TypeScript', label: 'TypeScript', source: asTypeScript(call) },
  { lang: 'Python', label: 'Python', source: asPython(call) },
];

const callOf = (document: OpenApiDocument, path: string, method: string, operation: Operation): Call => {
  const { parameters = [], requestBody, security = [] } = operation;
  const filled = path.replaceAll(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(exampleOfParameter(parameters.find((one) => one.name === name))),
  );
  const query = parameters
    .filter((one) => one.in === 'query' && one.required === true)
    .map((one) => `${one.name}=${encodeURIComponent(exampleOfParameter(one))}`);
  const content = Object.values(requestBody?.content ?? {})[0];
  return {
    method: method.toUpperCase(),
    url: `${document.servers?.[0]?.url ?? ''}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`,
    credential: credentialOf(security),
    body: content === undefined ? undefined : (content.example ?? exampleOf(document, content.schema) ?? {}),
  };
};

const credentialOf = (security: NonNullable<Operation['security']>): string | null => {
  const names = security.flatMap((one) => Object.keys(one));
  if (names.length === 0) return null;
  return names.every((name) => name.startsWith('admin')) ? 'SVC_ADMIN_TOKEN' : 'SVC_KEY';
};

const exampleOfParameter = (parameter: Parameter | undefined): string => {
  const { example, schema } = parameter ?? {};
  return String(example ?? schema?.example ?? schema?.examples?.[0] ?? parameter?.name ?? '');
};

/** The example of the schema itself, or of the first alternative that has one. */
const exampleOf = (document: OpenApiDocument, schema: Schema): unknown => {
  const name = schema.$ref?.split('/').at(-1);
  const resolved = name === undefined ? schema : (document.components?.schemas?.[name] ?? {});
  const own = resolved.example ?? resolved.examples?.[0];
  if (own !== undefined) return own;
  for (const one of resolved.oneOf ?? resolved.anyOf ?? []) {
    const found = exampleOf(document, one);
    if (found !== undefined) return found;
  }
  return undefined;
};

const asCurl = ({ method, url, credential, body }: Call): string =>
  [
    `curl -sS ${method === 'GET' || body !== undefined ? '' : `-X ${method} `}${quoteForShell(url)}`,
    ...(body !== undefined && method !== 'POST' ? [`-X ${method}`] : []),
    ...(credential === null ? [] : [`-H "Authorization: Bearer $${credential}"`]),
    ...(body === undefined
      ? []
      : ["-H 'Content-Type: application/json'", `--data ${quoteForShell(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ');

const asTypeScript = ({ method, url, credential, body }: Call): string => {
  const headers = [
    ...(credential === null ? [] : [`    Authorization: \`Bearer \${process.env.${credential}}\`,`]),
    ...(body === undefined ? [] : ["    'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length === 0 ? [] : ['  headers: {', ...headers, '  },']),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indented(body, '  ')}),`]),
  ];
  const init = options.length === 0 ? '' : `, {\n${options.join('\n')}\n}`;
  return `const response = await fetch(${JSON.stringify(url)}${init});\nconsole.log(response.status, await response.text());`;
};

const asPython = ({ method, url, credential, body }: Call): string =>
  [
    ...(credential === null ? [] : ['import os', '']),
    'import requests',
    '',
    'response = requests.request(',
    `    "${method}",`,
    `    ${JSON.stringify(url)},`,
    ...(credential === null
      ? []
      : [`    headers={"Authorization": f"Bearer {os.environ['${credential}']}"},`]),
    ...(body === undefined ? [] : [`    json=${pythonOf(indented(body, '    '))},`]),
    '    timeout=10,',
    ')',
    'print(response.status_code, response.text)',
  ].join('\n');

const indented = (value: unknown, by: string): string =>
  JSON.stringify(value, null, 2).replaceAll('\n', `\n${by}`);

/** Writes JSON as Python. Words inside strings stay unchanged. */
const pythonOf = (json: string): string =>
  json.replaceAll(
    /("(?:[^"\\]|\\.)*")|\b(true|false|null)\b/g,
    (_, text?: string, word?: string) =>
      text ?? { true: 'True', false: 'False', null: 'None' }[word as 'true'],
  );
