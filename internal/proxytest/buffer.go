package proxytest

import (
	"bytes"
	"runtime"
	"sync"
)

// A SyncBuffer is a buffer that is safe for concurrent use.
type SyncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *SyncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns the text written so far.
func (b *SyncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// HeapInUse returns the size of the live heap in bytes.
func HeapInUse() uint64 {
	var m runtime.MemStats
	for range 2 { // two collections are needed to empty a sync.Pool
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
