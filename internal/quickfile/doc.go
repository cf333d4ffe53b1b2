// Package quickfile writes, flushes and measures files with as little system-call overhead as
// possible.
package quickfile
