// Package clientcfg describes the configuration files of MCP clients and agents.
//
// For each supported client, a [Client] describes how to find its configuration file and the server
// lists in it, how to write an entry that runs petrigate, and how to tell whether the client is
// running. [Client.Read] translates an entry of a server list into a [Server] for petrigate's
// configuration, and reports parts that cannot be translated. [Client.Safeguards] finds
// restrictions that petrigate import does not carry over. [Hooks] describes the hooks of an agent.
// [Secrets] finds values that must not be displayed.
//
// To support another client, add a function that returns its Client, call this function in [All],
// and add an archive to testdata/clients. Package splice edits the files. Package takeover asks the
// user and writes the files. This package starts no goroutines, and its variables are read-only.
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
