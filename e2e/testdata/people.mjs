// Makes one call that waits for a person, with the official TypeScript SDK, until it is over,
// and is the person too: at the page in a real browser, or at a terminal.
//
// Standard input is one JSON object:
//   {"command", "args", "env"} or {"url"}: the server
//   "sdk": "1", or of the newer line "legacy" or "auto", which begins with the newer era
//   "elicitation": the capability of the client; absent: none
//   "says": what the client answers to elicitation/create; absent: nothing, ever
//   "call": {"name", "arguments"}, made at most "calls" times, as long as the answer is to come again
//   "timeout": of a call, in milliseconds
//   "person": {"at": "page" or "terminal", "answer": "approve" or "deny", "parked": whether they
//     answer only after the first call has ended}; absent: nobody
//   "binary", "environment": petrigate, for the person; "browser": to start
// Standard output is one JSON object: "era", "asked" with the params of every elicitation,
// "answers" with a result or an error for each call, "shown", what the person was shown,
// and "left", the approvals that are pending at the end.
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { load, job, transport as transport1, Client as Client1, types } from './job.mjs';
import { start, end } from './browser.mjs';

const pending = async () => JSON.parse(await petrigate('approvals', 'ls', '--json')).approvals.filter((a) => a.state === 'pending').map((a) => a.id);
const petrigate = async (...args) => (await promisify(execFile)(job.binary, args, { env: job.environment })).stdout.trim();

const connect1 = async (capabilities, ask) => {
  const client = new Client1({ name: 'e2e', version: '1.0.0' }, { capabilities });
  if (job.elicitation) client.setRequestHandler(types.ElicitRequestSchema, ask);
  await client.connect(transport1);
  return { call: (options) => client.callTool(job.call, undefined, options), close: () => client.close(), era: 'legacy' };
};

const connect2 = async (capabilities, ask) => {
  const { Client, StreamableHTTPClientTransport } = await load2('@modelcontextprotocol/client');
  const { StdioClientTransport } = await load2('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'e2e', version: '1.0.0' }, { capabilities, versionNegotiation: { mode: job.sdk } });
  if (job.elicitation) client.setRequestHandler('elicitation/create', ask);
  await client.connect(job.url
    ? new StreamableHTTPClientTransport(new URL(job.url))
    : new StdioClientTransport({ command: job.command, args: job.args, env: job.env, stderr: 'inherit' }));
  return { call: (options) => client.callTool(job.call, options), close: () => client.close(), era: client.getProtocolEra() };
};
const require = createRequire(process.env.E2E_PACKAGES + '/package.json');
const load2 = (name) => import(require.resolve(name).replace(/\.cjs$/, '.mjs'));

let shown = '';

// The person reads the page that the client has opened, and does what it says.
const atPage = async (url) => {
  const { chromium } = await load('playwright-core').then((m) => m.default);
  const { browser, page } = await start(chromium, job.browser);
  try {
    page.setDefaultTimeout(60_000);
    await page.goto(url);
    // Not let in yet: the page says which verb gives the code.
    const verb = (await page.locator('pre').textContent()).trim();
    if (verb !== 'petrigate open') throw new Error('the page wants ' + verb);
    await page.getByLabel('Code').fill((await petrigate('open', '--print')).split('#')[1]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const question = page.locator('article.card.pending');
    await question.waitFor();
    if (new URL(page.url()).pathname !== new URL(url).pathname) throw new Error(`let in at ${page.url()}, not at ${url}`);
    shown = await question.innerText();
    await question.getByRole('button', { name: job.person.answer === 'approve' ? 'Approve once' : 'Deny' }).click();
    await page.getByText(job.person.answer === 'approve' ? /is approved, once/ : /is denied/).first().waitFor();
  } finally {
    await end(browser);
  }
};

// The person lists what waits, and answers it.
const atTerminal = async () => {
  for (const end = Date.now() + 60_000; ;) {
    const [id] = await pending();
    if (id) {
      shown = await petrigate('approvals', 'show', id);
      return petrigate('approvals', job.person.answer, id, ...(job.person.answer === 'approve' ? ['--yes'] : []));
    }
    if (Date.now() > end) throw new Error('nothing waits');
  }
};

const asked = [];
let opened;
const address = new Promise((resolve) => { opened = resolve; });
const ask = async (request) => {
  asked.push(request.params);
  opened(request.params.url);
  return job.says ?? new Promise(() => {});
};
const answered = async () => (job.person.at === 'page' ? atPage(await address) : atTerminal());

const client = await (job.sdk === '1' ? connect1 : connect2)(job.elicitation ? { elicitation: job.elicitation } : {}, ask);
const answers = [];
let person;
if (job.person && !job.person.parked) person = answered();
person?.catch(() => {}); // it is looked at below
for (let n = 0; n < job.calls; n++) {
  try {
    answers.push({ result: await client.call({ timeout: job.timeout }) });
  } catch (e) {
    answers.push({ error: { code: e.code, message: e.message, data: e.data } });
    break;
  }
  if (!JSON.stringify(answers.at(-1)).includes('Call the same tool again')) break;
  if (job.person) await (person ??= answered());
}
await person;
const left = await pending();
await client.close();
process.stdout.write(JSON.stringify({ era: client.era, asked, answers, shown, left }), () => process.exit(0));
