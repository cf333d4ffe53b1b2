// Package toolkind guesses what a tool does, from its name, its hints and the schema of its
// arguments, and from a list of well-known servers (servers.txt).
//
// A guess is where a person begins, and nothing that is enforced depends on it. Names and hints
// are the words of a server that nobody vouches for: a hint makes a guess more careful
// (destructiveHint, openWorldHint, a readOnlyHint that is false), and never less.
package toolkind
