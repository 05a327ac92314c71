#!/usr/bin/env node
/** `svc-mcp [--write] [--confirm-by-token]`: serves MCP over standard input and output. Exit code 2: wrong settings. */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import packageJson from '../package.json' with { type: 'json' };
import { createServer } from './server.ts';
import { readSettings, SettingsError, USAGE } from './settings.ts';

/** Size of one message: the largest bundle as a JSON string, and the rest of the message. */
const MAX_MESSAGE_BYTES = 10 * 1024 * 1024;

const args = process.argv.slice(2);
if (args.includes('--help')) console.log(USAGE);
else if (args.includes('--version')) console.log(packageJson.version);
else {
  try {
    const server = createServer(readSettings(args, process.env));
    const limits = { maxBufferSize: MAX_MESSAGE_BYTES };
    const transport = new StdioServerTransport(process.stdin, process.stdout, limits);
    await server.connect(transport as never);
    // The client has closed the connection, so nobody can read an answer.
    process.stdin.once('end', () => process.exit(0));
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    console.error(`svc-mcp: ${error.message}\n\n${USAGE}`);
    process.exitCode = 2;
  }
}
