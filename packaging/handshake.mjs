#!/usr/bin/env node
// handshake.mjs COMMAND ARGS... starts an MCP server that is petrigate in front of the
// server of its demo, and is a client to it: a delete is refused, a backup passes, the delete
// passes. At the end of its input the server has to exit with 0.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map();
let last = 0;
setTimeout(() => fail("no end within 60 seconds"), 60_000).unref();

function fail(why) {
  console.error(`handshake: ${why}`);
  child.kill("SIGKILL");
  process.exit(1);
}

createInterface({ input: child.stdout }).on("line", (line) => {
  const message = JSON.parse(line); // standard output carries the protocol alone
  waiting.get(message.id)?.(message);
});
child.on("error", (error) => fail(error.message));
const exited = new Promise((done) => child.on("exit", (code, signal) => done(signal ?? code)));

const send = (message) => child.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");

function ask(method, params) {
  const id = ++last;
  send({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

async function call(name, refused) {
  const { result } = await ask("tools/call", { name, arguments: { path: "notes.txt" } });
  if (!result || Boolean(result.isError) !== refused) fail(`${name}: want refused: ${refused}, got ${JSON.stringify(result)}`);
  return JSON.stringify(result.content);
}

exited.then((how) => last < 6 && fail(`it ended too early: ${how}`));
const client = { name: "handshake", version: "1" };
const { result } = await ask("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: client });
if (!result?.instructions?.startsWith("petrigate decides")) fail(`who answers? ${JSON.stringify(result)}`);
send({ method: "notifications/initialized" });
const tools = (await ask("tools/list", {})).result.tools.map((tool) => tool.name);
if (!tools.includes("delete")) fail(`no delete among the tools: ${tools}`);
const reason = await call("delete", true);
if (!reason.includes("requires a successful call to backup first")) fail(`another reason: ${reason}`);
await call("backup", false);
await call("delete", false);
last++;
child.stdin.end();
const how = await exited;
if (how !== 0) fail(`it ended with ${how}`);
console.log(`handshake: petrigate refused a delete before its backup`);
process.exit(0);
