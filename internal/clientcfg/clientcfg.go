// Package clientcfg describes the configuration files of MCP clients and agents.
//
// For each supported client, a [Client] gives the paths of its file on each system, the syntax and
// path of its servers, the form of an entry that runs petrigate, and how to recognize a running
// instance. [Client.Read] translates an entry into a [Server] of petrigate's configuration: it
// renames keys, converts timeouts and references to variables, and reports what cannot be carried
// over. [Hooks] does the same for the hooks of agents. [Secrets] finds values that must not be
// shown, and [Client.Safeguards] finds restrictions that import does not carry over.
//
// Adding a client means adding one function that returns a Client to [All]. Editing files is the
// task of package splice, asking and writing that of package takeover. The package starts no
// goroutines; its tables are read-only.
package clientcfg

import (
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// All returns all clients in display order.
func All() []Client {
	return []Client{
		claudeDesktop(), claudeCode(), cursor(), vscode(), vscodeInsiders(), windsurf(), zed(), cline(),
		codex(), gemini(), goose(), opencode(), continueDev(), lmStudio(),
	}
}

// Find returns the client with a name or alias. If ok is false, near is the most similar name, or
// "".
func Find(name string) (c Client, near string, ok bool) {
	var names []string
	word := strings.ToLower(name)
	for _, c := range All() {
		for _, known := range append([]string{c.Name}, c.Aliases...) {
			if word == known {
				return c, "", true
			}
			names = append(names, known)
		}
	}
	return Client{}, text.Nearest(word, names), false
}
