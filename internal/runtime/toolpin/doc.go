// Package toolpin keeps accepted tool definitions (pins). The pin of a tool is the definition that
// it had when it was first seen, or one that a person has accepted since. If the server later
// changes the definition (a rug pull), the change is detected: until a person has reviewed it, no
// model reads the new definition and no client calls the tool.
//
// A [Guard] compares the tools of a server with the pins in a [Store]: a [File] on one machine, or
// a [Table] in a database shared by several machines.
package toolpin
