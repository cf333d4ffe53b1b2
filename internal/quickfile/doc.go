// Package quickfile writes and flushes files, and reads their size, with as little system call
// overhead as possible.
package quickfile
