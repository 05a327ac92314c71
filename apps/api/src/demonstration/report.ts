/** The text that a person sees after `npm start`. */
import { isIPv6 } from 'node:net';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Shown } from './walkthrough.ts';

export interface ReportInput {
  readonly baseUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly serviceDid: string;
  /** True: the page of the sandbox is served. */
  readonly hasPlayground: boolean;
  readonly shown: readonly Shown[];
  readonly relyingPartyKey: string;
  /** A file with the body of a verification that has not been sent yet. */
  readonly bodyPath: string;
  /** The demonstration as an environment file. */
  readonly envPath: string;
  /** Sentences about anything unusual in this start. */
  readonly notes: readonly string[];
}

/** The URL under which this machine reaches the listener. An IPv6 address stands in brackets (RFC 3986 §3.2.2). */
export const urlOfListener = (host: string, port: number): string =>
  `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;

const RULE = '─'.repeat(78);

export const report = (input: ReportInput): string =>
  [
    RULE,
    ...input.shown.flatMap(describe),
    RULE,
    '',
    `  Start here   ${input.baseUrl}/`,
    `  Reference    ${input.baseUrl}/docs`,
    ...(input.hasPlayground ? [`  Playground   ${input.baseUrl}/playground`] : []),
    `  Operations   ${input.adminUrl}/readyz  ${input.adminUrl}/metrics`,
    `  Admin token  ${input.adminToken}`,
    `  Service DID  ${input.serviceDid}`,
    `  Environment  ${input.envPath}`,
    ...input.notes.map((note) => `  Note         ${note}`),
    '',
    '  Send a verification yourself (a Proof is allowed once: run the command twice to see that):',
    '',
    `  curl -sS -w '\\n' ${input.baseUrl}/verify \\`,
    `    -H 'Authorization: Bearer ${input.relyingPartyKey}' \\`,
    `    -H 'Content-Type: application/json' --data ${inShell(`@${input.bodyPath}`)}`,
    '',
    '  The service writes a fresh Proof into that file every minute. Ctrl-C stops everything.',
    '',
  ].join('\n');

const inShell = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : quoteForShell(text));

const describe = ({ title, verdict, checkedOffline }: Shown): string[] => {
  const { receipt } = verdict;
  const checks = [...Object.values(receipt.protocol.checks), ...Object.values(receipt.trust.checks)];
  const passed = checks.filter((outcome) => outcome === true).length;
  const answer = verdict.allowed ? 'ALLOW' : `DENY  ${verdict.reason}`;
  return [
    '',
    `  ${answer}`,
    `    ${title}`,
    `    receipt    ${receipt.receipt_id}  ${receipt.evaluated_at}`,
    `    checks     ${passed} of ${checks.length} passed`,
    `    signature  ${checkedOffline ? 'checked offline against the service’s DID document' : 'NOT VALID'}`,
    '',
  ];
};
