// Starts "petrigate lsp" and stops it. Everything else is in the server.
const { workspace } = require('vscode')
const { LanguageClient } = require('vscode-languageclient/node')

let client

exports.activate = async () => {
  const settings = workspace.getConfiguration('petrigate')
  const tools = settings.get('tools')
  client = new LanguageClient(
    'petrigate',
    'petrigate',
    { command: settings.get('path') || 'petrigate', args: tools ? ['lsp', '--tools', tools] : ['lsp'] },
    {
      documentSelector: [
        { scheme: 'file', language: 'petrigate-rules' },
        { scheme: 'untitled', language: 'petrigate-rules' },
        { scheme: 'file', pattern: '**/*petrigate*.{yaml,yml,json}' },
        { scheme: 'file', pattern: '**/*.net.{yaml,yml,json}' },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher('**/*.{rules,yaml,yml}') },
    },
  )
  await client.start()
}

exports.deactivate = () => client?.stop()
