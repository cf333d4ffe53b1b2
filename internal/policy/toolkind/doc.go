// Package toolkind guesses what a tool does from the tool's name, its hints, the schema of its
// arguments, and a list of well-known servers (servers.txt).
//
// A guess is only a suggestion to a person; nothing that is enforced depends on it. Names and hints
// come from a server that might not be trustworthy. Therefore, hints can only make a guess more
// cautious (destructiveHint, openWorldHint, or readOnlyHint set to false).
package toolkind
