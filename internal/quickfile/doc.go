// Package quickfile writes and flushes files, and reads their size, with as little overhead for
// system calls as possible.
package quickfile
