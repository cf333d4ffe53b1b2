//go:build !(linux && (amd64 || arm64))

package quickfile

import "os"

// A Flusher flushes files. On this system, it has no faster way than [os.File.Sync]. The zero value
// is ready to use. It must not be used by several goroutines at once.
type Flusher struct{}

// Flush writes the contents of the file to the disk. The file must stay open until Flush returns.
func (*Flusher) Flush(f *os.File) error { return f.Sync() }

// Close has no effect on this system.
func (*Flusher) Close() {}
