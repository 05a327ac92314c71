/** An MCP client in this process, with the server in another. */
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { withSourceProgram } from '@svc/testkit/process/source-program';

/** Declares the server at the top of a test file. */
export const withServer = () => withSourceProgram(fileURLToPath(new URL('../src/main.ts', import.meta.url)));

export interface Answer {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent: { readonly says: string; readonly data?: Readonly<Record<string, unknown>> };
}

export const connect = async (
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
) => {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
  });
  await client.connect(transport as never);
  const call = async (name: string, input: Record<string, unknown>): Promise<Answer> =>
    (await client.callTool({ name, arguments: input })) as unknown as Answer;
  return { client, call };
};
