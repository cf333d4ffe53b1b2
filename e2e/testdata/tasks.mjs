// Calls a tool as a task with the official TypeScript SDK.
//
// Standard input is one JSON object, {"command", "args", "env"} or {"url"}: the
// server. Standard output is one JSON object: what the client was told, without
// times, and with T1, T2 ... for the ids of tasks.
import { Client, transport, types } from './job.mjs';

const { ElicitRequestSchema, CallToolResultSchema } = types;
const client = new Client({ name: 'e2e', version: '1.0.0' }, { capabilities: { elicitation: {} } });

const ids = [];
const plain = value => JSON.parse(JSON.stringify(value, (key, v) => {
  if (key === 'createdAt' || key === 'lastUpdatedAt') return undefined;
  if (key !== 'taskId') return v;
  if (!ids.includes(v)) ids.push(v);
  return 'T' + (1 + ids.indexOf(v));
}));
const failed = e => ({ code: e.code, message: e.message, data: e.data });

const told = { asked: [] };
client.setRequestHandler(ElicitRequestSchema, request => {
  told.asked.push(request.params);
  return { action: 'accept', content: { interpretation: 'technical' } };
});
await client.connect(transport);
told.capability = client.getServerCapabilities().tasks;
const tasks = client.experimental.tasks;
const name = 'simulate-research-query';
const { tools } = await client.listTools();
told.support = tools.find(t => t.name === name)?.execution;

// The whole life of one task, with a question in the middle.
const statuses = new Set();
for await (const m of tasks.callToolStream({ name, arguments: { topic: 'a & b', ambiguous: true } }, CallToolResultSchema, { task: { ttl: 60000 } })) {
  if (m.type === 'taskStatus') statuses.add(m.task.status);
  else if (m.type === 'error') told.error = failed(m.error);
  else told[m.type] = m.task ?? m.result;
}
statuses.delete('working'); // which is seen or not, by when one looks
told.statuses = [...statuses].sort();
told.asked = plain(told.asked);
told.again = await tasks.getTaskResult(told.taskCreated.taskId, CallToolResultSchema);
told.list = (await tasks.listTasks()).tasks;

// Another one, which is cancelled, and what there is to be refused. It cannot have
// ended by then: it waits for an answer that nobody gives.
const stream = tasks.callToolStream({ name, arguments: { topic: 'x', ambiguous: true } }, CallToolResultSchema, { task: { ttl: 60000 } });
const second = (await stream.next()).value.task;
const cancelled = await tasks.cancelTask(second.taskId);
told.cancelled = cancelled.status;
await stream.return();
const refused = async f => { try { return { result: await f() }; } catch (e) { return { error: failed(e).code }; } };
told.twice = await refused(() => tasks.cancelTask(second.taskId));
told.unknown = await refused(() => tasks.getTask('no-such-task'));
await client.close();
process.stdout.write(JSON.stringify(plain(told)), () => process.exit(0));
