// Package toolkind guesses what a tool does. It considers the tool's name, hints and argument
// schema, and a list of well-known servers (servers.txt).
//
// A guess is only a suggestion to a person; nothing that is enforced depends on it. Names and hints
// come from a server that might not be trustworthy. Hints can therefore only make a guess more
// cautious (destructiveHint, openWorldHint, or readOnlyHint set to false). The exception is
// readOnlyHint set to true, which counts if nothing else indicates what the tool does.
package toolkind
