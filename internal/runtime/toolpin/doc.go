// Package toolpin keeps accepted tool definitions (pins). A pin is the definition that a tool had
// when it was first seen, or the definition that a person has accepted since then. If a server
// changes the definition later (a rug pull), the change is detected, so that no model reads the
// definition and no client calls the tool before a person has reviewed it.
//
// A [Guard] compares a server's tools with the pins in a [Store]: a [File] on one machine, or a
// [Table] in a database that several machines share.
package toolpin
