// Package toolkind guesses what a tool does, from its name, its hints and the schema of its
// arguments, and from a list of well-known servers (servers.txt).
//
// A guess is only a suggestion to a person; nothing that is enforced depends on it. Names and hints
// come from a server that might be untrusted, so a hint can only make a guess more careful
// (destructiveHint, openWorldHint, a readOnlyHint that is false).
package toolkind
