package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// firstSteps contains the examples shown in the help for the program itself.
const firstSteps = `
petrigate demo
petrigate wrap --rules safety.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder
petrigate check --live --config petrigate.yaml
petrigate serve --config petrigate.yaml --http 127.0.0.1:7777
`

// exampleLines contains one example per line. Each is shown in the help for the command that it
// runs.
const exampleLines = `
petrigate demo
petrigate serve --config petrigate.yaml
petrigate serve --config petrigate.yaml --http 127.0.0.1:7777
petrigate serve --config petrigate.yaml --session nightly
petrigate wrap --rules safety.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder
petrigate wrap --rules safety.rules --deny --audit audit.jsonl --url https://mcp.example.com/mcp
petrigate hook claude-code
petrigate hook codex --config petrigate.yaml --server gate
petrigate import claude-desktop
petrigate import vscode --file .vscode/mcp.json --config petrigate.yaml --only github
petrigate connect --list
petrigate connect claude-desktop
petrigate connect cursor --config petrigate.yaml --yes
petrigate connect codex --url http://127.0.0.1:7777/mcp
petrigate connect claude-code --hooks
petrigate connect claude-code --hooks --service --yes
petrigate disconnect claude-desktop
petrigate doctor
petrigate doctor --fix
petrigate init
petrigate init --yes --config petrigate.yaml
petrigate suggest
petrigate suggest audit.jsonl older.jsonl --min-sessions 50
petrigate suggest --apply
petrigate enforce
petrigate enforce --yes --config petrigate.yaml
petrigate check --config petrigate.yaml
petrigate check --live --strict --config petrigate.yaml
petrigate check --verbose safety.rules
petrigate analyze pipeline.net.yaml
petrigate analyze --live --timeout 5m --json philosophers.pnml
petrigate diff old.rules new.rules
petrigate diff --timeout 1m yesterday/petrigate.yaml petrigate.yaml
petrigate eval --cases cases.jsonl
petrigate audit verify audit.jsonl
petrigate audit tail -f
petrigate audit query --tool github.create_issue --decision refuse --since 24h
petrigate audit stats --json audit.jsonl
petrigate replay audit.jsonl --config petrigate.yaml
petrigate replay audit.jsonl --rules stricter.rules --detailed-exitcode
petrigate explain delete --rules safety.rules
petrigate explain bash --args '{"command": "rm -r build"}' --after 'backup,lint{"all": true}'
petrigate fmt -w safety.rules
petrigate fmt --check rules/
petrigate graph --config petrigate.yaml
petrigate graph --format svg safety.rules > nets.svg
petrigate lsp
petrigate lsp --tools tools.json
petrigate schema > petrigate.schema.json
petrigate schema --net > net.schema.json
petrigate simulate safety.rules
petrigate simulate --config petrigate.yaml --record new_test.yaml
petrigate test ./...
petrigate test --cover --min-cover 90 safety_test.yaml
petrigate test --run backup -v
petrigate approvals
petrigate approvals ls --pending
petrigate approvals watch
petrigate approvals show ap_FK5IAX4Y
petrigate approvals approve ap_FK5IAX4Y
petrigate approvals approve ap_FK5IAX4Y --yes --reason "as agreed"
petrigate approvals approve ap_FK5IAX4Y --for 10m --like path
petrigate approvals grants
petrigate approvals pin
petrigate approvals revoke gr_4S7QJ2ZB
petrigate approvals deny ap_FK5IAX4Y --reason "not on a Friday"
petrigate open
petrigate open ap_FK5IAX4Y
petrigate login linear
petrigate login --list
petrigate login --url https://mcp.example.com/mcp --no-browser
petrigate logout linear
petrigate nets ls
petrigate nets activate limit-push-3
petrigate nets deactivate limit-push-3
petrigate reload --dry-run
petrigate reload --reset-net deploys
petrigate sessions ls
petrigate sessions show 3f2a
petrigate sessions shadow
petrigate sessions shadow 3f2a --json
petrigate sessions reset 3f2a
petrigate sessions settle 3f2a 7 --failure
petrigate start
petrigate start --session 3f2a
petrigate status
petrigate stop --reason "the database is being restored"
petrigate stop --session 3f2a
petrigate tools
petrigate tools diff 'files.*'
petrigate tools accept files.read_file
petrigate tools --session 3f2a --json
petrigate version
petrigate help check
petrigate help rules
`

// addExamples adds the examples to the help of the program and its commands.
func addExamples(root *cobra.Command) {
	for line := range strings.Lines(strings.TrimSpace(firstSteps)) {
		root.Example += "  " + line
	}
	for line := range strings.Lines(strings.TrimSpace(exampleLines)) {
		line = strings.TrimSuffix(line, "\n")
		c, _, err := root.Find(strings.Fields(line)[1:])
		if err != nil || c == root {
			continue // the tests fail if an example runs an unknown command
		}
		c.Example = strings.TrimPrefix(c.Example+"\n  "+line, "\n")
	}
}
