// Drives an MCP server with the official TypeScript SDK.
//
// Standard input is one JSON object:
//   {"command", "args", "env"} or {"url"}: the server
//   "elicit": what to answer to elicitation/create; absent: no such capability
//   "steps": [{"method", "params", "progress"}]
// Standard output is one JSON object: "answers" with a result or an error for
// each step, in order, and "asked" with the params of every elicitation.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { text } from 'node:stream/consumers';

// The packages lie in a cache, not beside this file.
const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
const load = name => import(pathToFileURL(require.resolve(name)));
const sdk = '@modelcontextprotocol/sdk/';
const { Client } = await load(sdk + 'client/index.js');
const { StdioClientTransport } = await load(sdk + 'client/stdio.js');
const { StreamableHTTPClientTransport } = await load(sdk + 'client/streamableHttp.js');
const { ElicitRequestSchema } = await load(sdk + 'types.js');
const { z } = await load('zod');

const job = JSON.parse(await text(process.stdin));
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' });
const capabilities = job.elicit ? { elicitation: {} } : {};
const client = new Client({ name: 'e2e', version: '1.0.0' }, { capabilities });
const asked = [];
if (job.elicit) {
  client.setRequestHandler(ElicitRequestSchema, request => {
    asked.push(request.params);
    return job.elicit;
  });
}
await client.connect(transport);
const answers = [];
for (const { method, params, progress } of job.steps) {
  let n = 0;
  const options = { timeout: 30000, ...(progress && { onprogress: () => n++ }) };
  try {
    const result = await client.request({ method, params }, z.any(), options);
    answers.push({ result, progress: n });
  } catch (e) {
    answers.push({ error: { code: e.code, message: e.message, data: e.data } });
  }
}
await client.close();
// A pipe takes what it has room for: exit when all of it is written.
process.stdout.write(JSON.stringify({ answers, asked, server: client.getServerVersion() }), () => process.exit(0));
