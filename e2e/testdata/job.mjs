// What every script here begins with: the job, one JSON object on standard
// input, {"command", "args", "env"} or {"url"} for the server, and the official
// TypeScript SDK.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

// The packages lie in a cache, not beside this file.
const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
export const load = name => import(pathToFileURL(require.resolve(name)));

const sdk = '@modelcontextprotocol/sdk/';
const { StdioClientTransport } = await load(sdk + 'client/stdio.js');
const { StreamableHTTPClientTransport } = await load(sdk + 'client/streamableHttp.js');
export const { Client } = await load(sdk + 'client/index.js');
export const types = await load(sdk + 'types.js');

export const job = JSON.parse(await text(process.stdin));
export const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' });
