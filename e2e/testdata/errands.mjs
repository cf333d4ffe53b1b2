// Makes tasks of what a server asks, with the official TypeScript SDK.
//
// Standard input is one JSON object, {"command", "args", "env"} or {"url"}: the
// server. Standard output is one JSON object: what the client was asked and the
// server made of the answers, without ids and times.
import { Client, load, transport, types } from './job.mjs';

const { ElicitRequestSchema, CreateMessageRequestSchema } = types;
const { InMemoryTaskStore } = await load('@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js');
const taskStore = new InMemoryTaskStore();
const client = new Client({ name: 'e2e', version: '1.0.0' }, {
  taskStore,
  capabilities: {
    elicitation: {}, sampling: {},
    tasks: { list: {}, cancel: {}, requests: { elicitation: { create: {} }, sampling: { createMessage: {} } } },
  },
});

const told = { asked: [], tasks: 0 };
const answers = result => async (request, extra) => {
  const { _meta, ...params } = request.params;
  told.asked.push({ method: request.method, params });
  if (!params.task) return result;
  const task = await extra.taskStore.createTask({ ttl: params.task.ttl, pollInterval: 100 });
  told.tasks++;
  setTimeout(() => extra.taskStore.storeTaskResult(task.taskId, 'completed', result), 50); // a person thinks
  return { task };
};
client.setRequestHandler(ElicitRequestSchema, answers({ action: 'accept', content: { name: 'Ann', favoriteColor: 'Red' } }));
client.setRequestHandler(CreateMessageRequestSchema, answers({ role: 'assistant', model: 'none', content: { type: 'text', text: 'a < b' } }));
await client.connect(transport);
told.elicited = (await client.callTool({ name: 'trigger-elicitation-request-async', arguments: {} })).content;
told.sampled = (await client.callTool({ name: 'trigger-sampling-request-async', arguments: { prompt: 'a & b', maxTokens: 7 } })).content;
taskStore.cleanup();
await client.close();
process.stdout.write(JSON.stringify(told), () => process.exit(0));
