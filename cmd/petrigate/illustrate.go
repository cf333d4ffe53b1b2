package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// illustrations are examples for the help of each verb, a line each. A test
// holds every one of them against the verbs and flags that there are.
func illustrations() map[string]string {
	return map[string]string{
		"petrigate": `
			petrigate demo
			petrigate wrap --rules safety.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder
			petrigate check --live --config petrigate.yaml
			petrigate serve --config petrigate.yaml --http 127.0.0.1:7777`,
		"petrigate demo": `
			petrigate demo`,
		"petrigate serve": `
			petrigate serve --config petrigate.yaml
			petrigate serve --config petrigate.yaml --http 127.0.0.1:7777`,
		"petrigate wrap": `
			petrigate wrap --rules safety.rules -- npx -y @modelcontextprotocol/server-filesystem /some/folder
			petrigate wrap --rules safety.rules --deny --audit audit.jsonl --url https://mcp.example.com/mcp`,
		"petrigate check": `
			petrigate check --config petrigate.yaml
			petrigate check --live --strict --config petrigate.yaml
			petrigate check --verbose safety.rules`,
		"petrigate analyze": `
			petrigate analyze pipeline.net.yaml
			petrigate analyze --timeout 5m --json philosophers.pnml`,
		"petrigate diff": `
			petrigate diff old.rules new.rules
			petrigate diff --timeout 1m yesterday/petrigate.yaml petrigate.yaml`,
		"petrigate eval": `
			petrigate eval --cases cases.jsonl`,
		"petrigate explain": `
			petrigate explain delete --rules safety.rules
			petrigate explain bash --args '{"command": "rm -r build"}' --after 'backup,lint{"all": true}'`,
		"petrigate fmt": `
			petrigate fmt -w safety.rules
			petrigate fmt --check rules/`,
		"petrigate graph": `
			petrigate graph --config petrigate.yaml
			petrigate graph --format svg safety.rules > nets.svg`,
		"petrigate schema": `
			petrigate schema > petrigate.schema.json
			petrigate schema --net > net.schema.json`,
		"petrigate simulate": `
			petrigate simulate safety.rules
			petrigate simulate --config petrigate.yaml --record new_test.yaml`,
		"petrigate test": `
			petrigate test ./...
			petrigate test --cover --min-cover 90 safety_test.yaml
			petrigate test --run backup -v`,
		"petrigate approvals ls": `
			petrigate approvals ls`,
		"petrigate approvals show": `
			petrigate approvals show ap_FK5IAX4Y`,
		"petrigate approvals approve": `
			petrigate approvals approve ap_FK5IAX4Y`,
		"petrigate approvals deny": `
			petrigate approvals deny ap_FK5IAX4Y --reason "not on a Friday"`,
		"petrigate login": `
			petrigate login linear
			petrigate login --list
			petrigate login --url https://mcp.example.com/mcp --no-browser`,
		"petrigate logout": `
			petrigate logout linear`,
		"petrigate nets ls": `
			petrigate nets ls`,
		"petrigate nets activate": `
			petrigate nets activate limit-push-3`,
		"petrigate nets deactivate": `
			petrigate nets deactivate limit-push-3`,
		"petrigate sessions ls": `
			petrigate sessions ls`,
		"petrigate sessions show": `
			petrigate sessions show 3f2a`,
		"petrigate sessions shadow": `
			petrigate sessions shadow
			petrigate sessions shadow 3f2a --json`,
		"petrigate sessions reset": `
			petrigate sessions reset 3f2a`,
		"petrigate sessions settle": `
			petrigate sessions settle 3f2a 7 --failure`,
		"petrigate status": `
			petrigate status`,
		"petrigate tools": `
			petrigate tools
			petrigate tools --session 3f2a --json`,
		"petrigate version": `
			petrigate version`,
		"petrigate help": `
			petrigate help check
			petrigate help rules`,
	}
}

// illustrate gives c and the verbs below it their examples.
func illustrate(c *cobra.Command, examples map[string]string) {
	if text, ok := examples[c.CommandPath()]; ok {
		c.Example = "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n\t\t\t", "\n  ")
	}
	for _, sub := range c.Commands() {
		illustrate(sub, examples)
	}
}
