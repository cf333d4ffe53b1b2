// Drives an MCP server with the newer line of the official TypeScript SDK.
//
// Standard input is one JSON object:
//   {"command", "args", "env"} or {"url"}: the server
//   "mode": "legacy" or "auto", which begins with the newer era
//   "calls": [{"name", "arguments"}]
// Standard output is one JSON object: "era", the "tools", and "answers" with a
// result or an error for each call, in order.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

// The packages lie in a cache, not beside this file.
const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
const load = name => import(pathToFileURL(require.resolve(name)).href.replace(/\.cjs$/, '.mjs'));
const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const { StdioClientTransport } = await load('@modelcontextprotocol/client/stdio');

const job = JSON.parse(await text(process.stdin));
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' });
const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode: job.mode } });
await client.connect(transport);
const { tools } = await client.listTools();
const answers = [];
for (const call of job.calls) {
  try {
    answers.push({ result: await client.callTool(call) });
  } catch (e) {
    answers.push({ error: { code: e.code, message: e.message, data: e.data } });
  }
}
const era = client.getProtocolEra();
await client.close();
process.stdout.write(JSON.stringify({ era, tools, answers }), () => process.exit(0));
