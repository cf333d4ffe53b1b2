// Package quickfile writes, flushes and examines files with low system-call overhead.
package quickfile
