// Plays one session with a language server by the protocol library of VS Code, and
// prints what came back. Standard input has the command and the folder.
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

const require = createRequire(process.env.E2E_PACKAGES + '/')
const lsp = require('vscode-languageserver-protocol/node')
const job = JSON.parse(readFileSync(0, 'utf8'))

const server = spawn(job.command, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] })
const ended = new Promise((resolve) => server.on('exit', (code) => resolve(code)))
const connection = lsp.createProtocolConnection(new lsp.StreamMessageReader(server.stdout), new lsp.StreamMessageWriter(server.stdin))
const waiting = []
connection.onNotification(lsp.PublishDiagnosticsNotification.type, (p) => {
  for (const w of waiting) if (w.uri === p.uri && w.version === p.version) w.resolve(p.diagnostics)
})
connection.onError((e) => { throw e })
connection.listen()

const uri = pathToFileURL(job.dir + '/a.rules').href
const diagnosed = (version) => new Promise((resolve) => waiting.push({ uri, version, resolve }))
const at = (line, character) => ({ textDocument: { uri }, position: { line, character } })
const said = {}

const { capabilities } = await connection.sendRequest(lsp.InitializeRequest.type, { processId: process.pid, rootUri: null, capabilities: {} })
said.hover = capabilities.hoverProvider
await connection.sendNotification(lsp.InitializedNotification.type, {})

let next = diagnosed(1)
await connection.sendNotification(lsp.DidOpenTextDocumentNotification.type, { textDocument: { uri, languageId: 'petrigate-rules', version: 1, text: 'blok rm\n' } })
said.mistakes = (await next).map((d) => [d.code, d.range, d.message])

next = diagnosed(2)
await connection.sendNotification(lsp.DidChangeTextDocumentNotification.type, {
  textDocument: { uri, version: 2 },
  contentChanges: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 4 } }, text: '# \u{1D11E}\r\nblock   "\u{1D11E}", rm #' }],
})
said.repaired = await next
said.meaning = (await connection.sendRequest(lsp.HoverRequest.type, at(1, 2))).contents.value.split('\n')[0]
said.name = (await connection.sendRequest(lsp.HoverRequest.type, at(1, 15))).range
said.words = (await connection.sendRequest(lsp.CompletionRequest.type, at(1, 0))).items.map((i) => i.label)
said.outline = (await connection.sendRequest(lsp.DocumentSymbolRequest.type, { textDocument: { uri } })).map((s) => s.name)
said.format = await connection.sendRequest(lsp.DocumentFormattingRequest.type, { textDocument: { uri }, options: { tabSize: 4, insertSpaces: true } })
await connection.sendRequest(lsp.ShutdownRequest.type)
await connection.sendNotification(lsp.ExitNotification.type)
said.code = await ended
console.log(JSON.stringify(said))
