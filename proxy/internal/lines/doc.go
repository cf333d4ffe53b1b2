// Package lines reads and writes the messages of a client, one a line.
//
// A [Reader] bounds its lines and goes on behind one that is too long. A
// [Writer] is shared by all who have something to say to the client: it never
// splits a line, drops notifications rather than grow without end, and makes
// one system call of many messages.
package lines
