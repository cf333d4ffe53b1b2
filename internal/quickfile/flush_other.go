//go:build !(linux && (amd64 || arm64))

package quickfile

import "os"

// A Flusher flushes as usual here. The zero value is ready. One goroutine at a time may use it.
type Flusher struct{}

// Flush brings the content of the file to the disk. The file stays open meanwhile.
func (*Flusher) Flush(f *os.File) error { return f.Sync() }

// Close does nothing here.
func (*Flusher) Close() {}
