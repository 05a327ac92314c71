// usage: node validate.mjs CHART RENDERED.yaml VALUES.yaml…
//
// Validates the values (only these, where RENDERED is -) against the chart's schema, and the rendered documents against
// the Kubernetes API (and the Prometheus operator's): types by their OpenAPI schemas, unknown fields by their
// TypeScript types. Then it checks what these cannot express.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import ts from 'typescript';
import { parse, parseAllDocuments } from 'yaml';

const [chart = '', rendered = '', ...valuesFiles] = process.argv.slice(2);
const here = dirname(fileURLToPath(import.meta.url));
const faults = [];
const read = (file) => parse(readFileSync(file, 'utf8'));

const merge = (under, over) =>
  isObject(under) && isObject(over)
    ? Object.fromEntries(
        [...new Set([...Object.keys(under), ...Object.keys(over)])].map((key) => [
          key,
          key in over ? merge(under[key], over[key]) : under[key],
        ]),
      )
    : over;
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

const checkValues = () => {
  const values = [join(chart, 'values.yaml'), ...valuesFiles].map(read).reduce(merge);
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  const isValid = ajv.compile(read(join(chart, 'values.schema.json')));
  if (!isValid(values))
    for (const { instancePath, message, params } of isValid.errors ?? [])
      faults.push(`values${instancePath} ${message} ${JSON.stringify(params)}`);
};

const moduleOf = (apiVersion) =>
  `${apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}`;

const checkTypes = async (documents) => {
  for (const document of documents) {
    const models = await import(moduleOf(document.apiVersion));
    try {
      new models[document.kind](structuredClone(document)).validate();
    } catch (error) {
      faults.push(`${nameOf(document)}: ${error instanceof Error ? error.message : error}`);
    }
  }
};

/** An object literal with a field that its type lacks does not compile. */
const checkFields = (documents) => {
  const file = join(here, 'rendered.check.ts');
  const lines = documents.map(
    (document, index) =>
      `export const d${index}: import(${JSON.stringify(moduleOf(document.apiVersion))}).I${document.kind} = ${JSON.stringify(document)};`,
  );
  const options = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  const text = lines.join('\n');
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022)
      : getSourceFile.call(host, name, ...rest);
  host.fileExists = (name) => name === file || fileExists.call(host, name);
  host.readFile = (name) => (name === file ? text : readFile.call(host, name));
  const program = ts.createProgram([file], options, host);
  for (const diagnostic of ts.getPreEmitDiagnostics(program)) {
    const line = text.slice(0, diagnostic.start ?? 0).split('\n').length - 1;
    const document = documents[line];
    faults.push(
      `${document ? nameOf(document) : ''}: ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`,
    );
  }
};

const nameOf = ({ kind, metadata }) => `${kind} ${metadata?.name}`;
const podOf = ({ kind, spec }) => (kind === 'Deployment' || kind === 'Job' ? spec.template : null);
const selects = (labels, wanted) => Object.entries(wanted).every(([key, value]) => labels[key] === value);

/** Paths of the single keys of Secrets that a pod mounts. */
const filesOf = ({ spec }) =>
  spec.containers.flatMap(({ volumeMounts = [] }) =>
    volumeMounts.flatMap(({ name, mountPath }) =>
      (spec.volumes.find((one) => one.name === name)?.projected?.sources ?? []).flatMap(({ secret }) =>
        secret.items.map(({ path }) => `${mountPath}/${path}`),
      ),
    ),
  );

/** The conformance runner asks hosts that customers name: what it does not hold, nobody takes from it. */
const RUNNER_SECRETS = 1;
const checkRunner = (ask, document, { spec }) => {
  const secrets = JSON.stringify(spec).match(/"secret(Name)?":/g) ?? [];
  ask(document, secrets.length === RUNNER_SECRETS, 'the runner has another secret than its DATABASE_URL');
  const [{ env, envFrom }] = spec.containers;
  const held = env.map(({ name }) => name).filter((name) => /TOKEN|KEYS|FENCE|AWS|PASSPHRASE|PIN/.test(name));
  ask(document, held.length === 0 && envFrom === undefined, `the runner is given ${held.join(', ')}`);
  ask(document, spec.serviceAccountName.endsWith('-runner'), 'the runner has the rights of the others');
};

/** The worker asks hosts too, and signs status lists alone. */
const checkWorker = (ask, document, { spec }) => {
  const [{ env }] = spec.containers;
  const held = env.map(({ name }) => name).filter((name) => /TOKEN|PROVISION|RECEIPT|SANDBOX/.test(name));
  ask(document, held.length === 0, `the worker is given ${held.join(', ')}`);
  const keys = spec.volumes.find(({ name }) => name === 'signing-keys')?.secret;
  const isStatus = ({ key }) => key.startsWith('status-');
  ask(document, keys?.items?.length > 0 && keys.items.every(isStatus), 'the worker has keys of Receipts');
  const files = filesOf({ spec }).filter((path) => /token|provision/.test(path));
  ask(document, files.length === 0, `the worker has ${files.join(', ')}`);
};

/** svc-admin opens the service as an API pod does: a variable that it lacks makes it another service. */
const checkAdmin = (ask, document, { spec }, api) => {
  const has = new Set(spec.containers[0].env.map(({ name }) => name));
  const missing = api.spec.containers[0].env.map(({ name }) => name).filter((name) => !has.has(name));
  // Of the pod, and not of the service.
  const lacks = missing.filter((name) => name !== 'SVC_PROCESSES');
  ask(document, lacks.length === 0, `svc-admin lacks ${lacks.join(', ')}`);
  ask(document, document.spec.replicas === 0, 'the operator’s pod is there although nobody asked for it');
  const files = filesOf({ spec });
  ask(
    document,
    files.some((path) => path.endsWith('/owner-database-url')) &&
      filesOf(api).every((path) => files.includes(path)),
    'svc-admin lacks a secret of the API, or the address of the owner',
  );
};

const checkMeaning = (documents) => {
  const protocol = readFileSync(join(here, '../../docs/protocol.md'), 'utf8');
  const deployments = documents.filter(({ kind }) => kind === 'Deployment');
  const ask = (document, holds, what) => holds || faults.push(`${nameOf(document)}: ${what}`);
  for (const document of documents) {
    const pod = podOf(document);
    if (pod !== null) {
      ask(document, pod.spec.securityContext.runAsNonRoot === true, 'runs as root');
      for (const { securityContext, env, resources } of pod.spec.containers) {
        ask(
          document,
          securityContext.readOnlyRootFilesystem && !securityContext.allowPrivilegeEscalation,
          'is not confined',
        );
        ask(document, resources?.limits?.memory, 'has no bound on memory');
        const has = (wanted, text) =>
          env.some(({ name, value }) => name === wanted && (!text || value === text));
        ask(
          document,
          !has('DATABASE_URL_FILE') || has('SVC_ENV', 'production'),
          'would reach a database of another machine without TLS, and not say so',
        );
        for (const { name, value } of env) {
          const variable = name.replace(/_FILE$/, '');
          ask(
            document,
            !name.startsWith('SVC_') || [name, variable].some((one) => protocol.includes(`\`${one}\``)),
            `${name} is no variable of the service`,
          );
          const isSecret =
            /TOKEN|DATABASE_(?:READ_)?URL|PROVISION_KEYS|WEBHOOK_KEYS|PASSPHRASE|PIN_FILE/.test(name);
          ask(document, !isSecret || filesOf(pod).includes(value), `${name} is no file of a Secret`);
        }
      }
    }
    if (document.kind === 'Deployment' && document.metadata.name.endsWith('-runner'))
      checkRunner(ask, document, pod);
    if (document.kind === 'Deployment' && document.metadata.name.endsWith('-worker'))
      checkWorker(ask, document, pod);
    const isAdmin = document.kind === 'Deployment' && document.metadata.name.endsWith('-admin');
    if (isAdmin)
      checkAdmin(
        ask,
        document,
        pod,
        podOf(deployments.find(({ metadata }) => metadata.name.endsWith('-api'))),
      );
    if (document.kind === 'Deployment') {
      ask(
        document,
        isAdmin ||
          pod.spec.containers.every(({ readinessProbe }) => readinessProbe.httpGet.path === '/servez'),
        'is without any ready pod while all hold decisions',
      );
      ask(
        document,
        selects(pod.metadata.labels, document.spec.selector.matchLabels),
        'does not select its own pods',
      );
    }
    const wanted = {
      Service: document.spec?.selector,
      PodDisruptionBudget: document.spec?.selector?.matchLabels,
      NetworkPolicy: document.spec?.podSelector?.matchLabels,
    }[document.kind];
    if (wanted) {
      const pods = deployments.map(podOf).filter((each) => selects(each.metadata.labels, wanted));
      ask(document, pods.length > 0, 'selects no pod');
      const ports = pods.flatMap(({ spec }) =>
        spec.containers.flatMap(({ ports = [] }) => ports.map(({ name }) => name)),
      );
      for (const { targetPort } of document.kind === 'Service' ? document.spec.ports : [])
        ask(document, ports.includes(targetPort), `has no port ${targetPort}`);
    }
    if (document.kind === 'HorizontalPodAutoscaler')
      ask(
        document,
        deployments.some(({ metadata }) => metadata.name === document.spec.scaleTargetRef.name),
        'scales nothing',
      );
    if (document.kind === 'ServiceMonitor') {
      const { selector, jobLabel } = document.spec;
      const found = documents.filter(
        ({ kind, metadata }) => kind === 'Service' && selects(metadata.labels, selector.matchLabels),
      );
      ask(document, found.length > 0, 'finds no Service');
      ask(
        document,
        found.every(({ metadata }) => metadata.labels[jobLabel]?.includes('svc')),
        'names a job that alerts do not ask for, which look for svc in it',
      );
    }
    if (document.kind === 'NetworkPolicy' && document.metadata.name.endsWith('-runner'))
      for (const { to } of document.spec.egress)
        for (const { ipBlock } of to)
          ask(
            document,
            ipBlock?.cidr !== '0.0.0.0/0' ||
              ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16'].every((one) =>
                ipBlock.except.includes(one),
              ),
            'lets the runner into the inside',
          );
  }
};

const documents = [];
checkValues();
if (rendered !== '-') {
  for (const one of parseAllDocuments(readFileSync(rendered, 'utf8'), { version: '1.1' })) {
    const document = one.toJS();
    if (document !== null) documents.push(document);
  }
  await checkTypes(documents);
  checkFields(documents);
  checkMeaning(documents);
}
for (const fault of faults) console.error(fault);
if (faults.length === 0)
  console.log(`${documents.length} documents: ${[...new Set(documents.map(({ kind }) => kind))].join(', ')}`);
process.exitCode = faults.length === 0 ? 0 : 1;
