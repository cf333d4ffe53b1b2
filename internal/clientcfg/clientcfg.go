// Package clientcfg describes the configuration files of MCP clients and agents.
//
// For each supported client, a [Client] knows the paths of the file on each operating system, the
// place and the form of its server lists, the entry that runs petrigate, and how to recognize a
// running instance of the client. [Client.Read] translates an entry to a [Server] for petrigate's
// configuration: it renames keys, converts timeouts and references to variables, and reports
// untranslatable parts. [Hooks] does the same for the hooks of agents. [Secrets] finds values that
// must not be displayed. [Client.Safeguards] finds restrictions that petrigate import does not
// carry over.
//
// To support another client, add a function that returns its Client, call this function in [All],
// and add an archive to testdata/clients. Package splice edits the files, and package takeover asks the user and writes them. This
// package starts no goroutines; its tables are read-only.
package clientcfg

import (
	"strings"

	"github.com/petrigate/petrigate/internal/text"
)

// All returns all supported clients in display order.
func All() []Client {
	return []Client{
		claudeDesktop(), claudeCode(), cursor(), vscode(), vscodeInsiders(), windsurf(), zed(), cline(),
		codex(), gemini(), goose(), opencode(), continueDev(), lmStudio(),
	}
}

// Find returns the client with the given name or alias. If no client has this name, ok is false and
// near is the most similar name, or "" if no name is similar.
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
