// Package lines reads and writes the messages of a client, one per line.
//
// A [Reader] limits the length of lines and continues after a line that is too long. A [Writer] is
// shared by all goroutines that send to the client. It never splits a line, drops notifications
// instead of growing without limit, and writes several messages with one system call.
package lines
