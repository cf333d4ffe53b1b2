package conn

import (
	"sync"
)

// work counts goroutines that outlive a connection, for Close to wait for.
type work struct {
	mu    sync.Mutex
	ended bool // nothing may begin any more
	group sync.WaitGroup
}

// Begin counts a goroutine, unless it is too late for one. The goroutine calls done.
func (w *work) Begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.ended {
		w.group.Add(1)
	}
	return !w.ended
}

func (w *work) Done() { w.group.Done() }

// End waits for all that has begun; nothing begins after it.
func (w *work) End() {
	w.mu.Lock()
	w.ended = true
	w.mu.Unlock()
	w.group.Wait()
}
