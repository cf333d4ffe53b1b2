// Package toolkind guesses what a tool does. It considers the tool's name, hints and argument
// schema, and a list of well-known servers (servers.txt).
//
// A guess is only a suggestion to a person; nothing that is enforced depends on it. Names and hints
// come from a server that might not be trustworthy. For a known kind of tool, hints can therefore
// only make the guess more cautious (destructiveHint, openWorldHint, or readOnlyHint set to false).
package toolkind
