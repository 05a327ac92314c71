/** A page for every error code and every reason code, made from the tables from which the service answers. */
import { readFileSync } from 'node:fs';
import {
  ERROR_CODES,
  ERROR_MEANING,
  ERROR_REMEDY,
  ERROR_STATUS,
  type ErrorCode,
  errorCodesOf,
  type Route,
  routes,
} from '@svc/contract';
import { CHECKS, REASON_CODES, REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import { demandOf, REMEDIES } from '@svc/protocol/explain';
import { ERROR_KINDS, type SvcErrorKind } from '@svc/sdk-core/errors';
import { KIND_TEXTS, REFUSAL_TEXTS } from '@svc/sdk-core/help-texts';
import { REFUSAL_CODES, type RefusalCode } from '@svc/sdk-core/refusal-codes';
import { slug } from 'github-slugger';
import { FAILURE_TEXTS } from './failure-texts.ts';

interface CodePage {
  readonly address: string;
  readonly markdown: string;
  readonly isListed: boolean;
}

const isRefusal = (code: string): code is RefusalCode => (REFUSAL_CODES as readonly string[]).includes(code);
/** Codes that the service itself never answers. */
const OWN_REFUSALS = REFUSAL_CODES.filter((code) => !(ERROR_CODES as readonly string[]).includes(code));

export const codePages = (): readonly CodePage[] => [
  { address: 'guide/errors', markdown: errorList(), isListed: true },
  { address: 'guide/reasons', markdown: reasonList(), isListed: true },
  { address: 'guide/kinds', markdown: kindList(), isListed: true },
  { address: 'guide/failures', markdown: failureList(), isListed: true },
  ...ERROR_CODES.map((code) => ({
    address: `guide/errors/${code}`,
    markdown: errorPage(code),
    isListed: false,
  })),
  ...OWN_REFUSALS.map((code) => ({
    address: `guide/errors/${code}`,
    markdown: refusalPage(code),
    isListed: false,
  })),
  ...ERROR_KINDS.map((kind) => ({
    address: `guide/kinds/${kind}`,
    markdown: kindPage(kind),
    isListed: false,
  })),
  ...REASON_CODES.map((code) => ({
    address: `guide/reasons/${code}`,
    markdown: reasonPage(code),
    isListed: false,
  })),
];

const errorList = (): string => `# Error codes

An answer that is not a result has the body \`{error, message}\`: \`error\` is one of these codes, \`message\` is for people. Its \`Link\` header
(\`rel="help"\`) leads to the page of the code. A DENY is no error: see [reason codes](reasons).

| Code | Status | What happened |
|---|---|---|
${ERROR_CODES.map((code) => `| [${code}](errors/${code}) | ${ERROR_STATUS[code]} | ${ERROR_MEANING[code]} |`).join('\n')}

## What relying parties answer

The HTTP middlewares of \`@svc/sdk-rp\` answer with one of these as \`reason\` (SIGNATURE_REQUIRED, REQUEST_MISMATCH), or else as \`error\`; the MCP guard as \`reason\` in
\`svc/refusal\`. \`Link\`, or \`helpUrl\` there, leads to the page.

| Code | What happened |
|---|---|
${REFUSAL_CODES.map((code) => `| [${code}](errors/${code}) | ${REFUSAL_TEXTS[code].meaning} |`).join('\n')}
`;

const kindList = (): string => `# Kinds of errors of the libraries

Every error of \`@svc/sdk-principal\` and \`@svc/sdk-rp\` is an \`SvcError\`, and its \`kind\` is one of these. Its \`helpUrl\` is the page about the service's \`code\` where the
service answered with [one](errors), else that of its kind; null where no address of a service was given, or the service could not be reached.

| Kind | What happened |
|---|---|
${ERROR_KINDS.map((kind) => `| [${kind}](kinds/${kind}) | ${KIND_TEXTS[kind].meaning} |`).join('\n')}
`;

const reasonList = (): string => `# Reason codes

A DENY is a signed Receipt with status 200, and its \`reason\` is one of these codes: that of the first check that failed.

| Code | What happened |
|---|---|
${REASON_CODES.map((code) => `| [${code}](reasons/${code}) | ${REASON_TEXTS[code]} |`).join('\n')}
`;

const failureList = (): string => `# Failures of Receipts

Why a Receipt, a bundle, an inclusion proof or a checkpoint is not to be relied on: \`code\` of each of the \`failures\` of \`@svc/receipts\`, and of what the kits for Go and
Python refuse. The libraries that ask a service throw [receipt-invalid](kinds/receipt-invalid), and the codes stand in its message.

${Object.entries(FAILURE_TEXTS)
  .map(([code, { meaning, remedy }]) => `## ${code}\n\n${meaning} ${remedy}\n`)
  .join('\n')}`;

const errorPage = (code: ErrorCode): string => {
  const all = Object.values(routes) as readonly Route[];
  const answering = all.filter((route) => errorCodesOf(route).includes(code));
  const own = answering.flatMap((route) =>
    route.errors[code] === undefined ? [] : [`| \`${nameOf(route)}\` | ${route.errors[code]} |`],
  );
  const where =
    answering.length === all.length
      ? 'Any endpoint can answer it.'
      : answering.length === 0
        ? 'It follows from the path and the method, whatever the endpoint.'
        : `${answering.length} of ${all.length} endpoints can answer it.`;
  const table =
    own.length === 0
      ? ''
      : `\nThese say it more precisely:\n\n| Endpoint | What happened |\n|---|---|\n${own.join('\n')}\n`;
  return `# ${code}

${ERROR_MEANING[code]} An error, with HTTP status ${ERROR_STATUS[code]}.

## What to do

${ERROR_REMEDY[code]}

## Who answers it

${where}
${table}${isRefusal(code) ? `\n## From a relying party\n\n${REFUSAL_TEXTS[code].meaning} ${REFUSAL_TEXTS[code].remedy}\n` : ''}
[All error codes](../errors)
`;
};

const refusalPage = (code: RefusalCode): string => `# ${code}

${REFUSAL_TEXTS[code].meaning} A relying party answers it, with the middlewares or the MCP guard of \`@svc/sdk-rp\`.

## What to do

${REFUSAL_TEXTS[code].remedy}

[All error codes](../errors)
`;

const kindPage = (kind: SvcErrorKind): string => `# ${kind}

${KIND_TEXTS[kind].meaning} A \`kind\` of \`SvcError\`, which \`@svc/sdk-principal\` and \`@svc/sdk-rp\` throw.

## What to do

${KIND_TEXTS[kind].remedy}

[All kinds](../kinds)
`;

const nameOf = ({ method, path }: Route): string => `${method.toUpperCase()} ${path}`;

const reasonPage = (code: ReasonCode): string => {
  const checks = CHECKS.filter(({ reasons }) => (reasons as readonly ReasonCode[]).includes(code));
  const rows = checks.map(
    (check) => `| ${check.id} | ${demandOf(check)} | ${check.cites.map(citation).join(', ')} |`,
  );
  const table =
    rows.length === 0
      ? 'No check of the profiles that there are gives it.'
      : `| Check | What it demands | Where that is written |\n|---|---|---|\n${rows.join('\n')}`;
  return `# ${code}

${REASON_TEXTS[code]} A reason for a DENY, which is a signed Receipt and no error.

## What to do

${REMEDIES[code]}

## Which check it is

${table}

A dry run (\`POST /verify/dry-run\`) says of one request what was compared, and what would have passed. [All reason codes](../reasons)
`;
};

/** Makes `protocol §4` a link to that section. */
const citation = (source: string): string =>
  source.replace(/^protocol §([0-9]+)$/, (name, n: string) => {
    const heading = protocolHeadings.find((one) => one.startsWith(`${n}. `));
    if (heading === undefined) throw new Error(`docs/protocol.md has no section ${n}`);
    return `[${name}](../protocol#${slug(heading)})`;
  });

const protocolHeadings = [
  ...readFileSync(new URL('../../../docs/protocol.md', import.meta.url), 'utf8').matchAll(/^## (.*)$/gm),
].map(([, heading = '']) => heading);
