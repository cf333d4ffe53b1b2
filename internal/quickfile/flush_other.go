//go:build !(linux && (amd64 || arm64))

package quickfile

import "os"

// A Flusher flushes files. On this operating system, it only calls [os.File.Sync]. The zero value
// is ready to use. A Flusher is not safe for concurrent use.
type Flusher struct{}

// Flush writes the file's contents to disk. The file must stay open until Flush returns.
func (*Flusher) Flush(f *os.File) error { return f.Sync() }

// Close has no effect on this operating system.
func (*Flusher) Close() {}
