// Drives an MCP server with the official TypeScript SDK.
//
// Standard input is one JSON object:
//   {"command", "args", "env"} or {"url"}: the server
//   "elicit": what to answer to elicitation/create; absent: no such capability
//   "steps": [{"method", "params", "progress"}]
// Standard output is one JSON object: "answers" with a result or an error for
// each step, in order, and "asked" with the params of every elicitation.
import { Client, job, load, transport, types } from './job.mjs';

const { ElicitRequestSchema } = types;
const { z } = await load('zod');
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
  const options = { timeout: 180000, ...(progress && { onprogress: () => n++ }) };
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
