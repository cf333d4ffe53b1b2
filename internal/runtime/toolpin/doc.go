// Package toolpin keeps accepted definitions of tools (pins): the definition of a tool when it was
// first seen, or the one that a person has accepted since. If a server changes the definition
// later, the change is detected, so that no model reads it and no client calls the tool before a
// person has reviewed it (a rug pull).
//
// A [Guard] compares the tools of a server with the pins of a [Store]: a [File] on one machine, or
// a [Table] in a database that several machines share.
package toolpin
