package store

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Watcher calls functions of this process when another process may have changed the database.
type Watcher struct {
	database backend.Backend

	mu        sync.Mutex
	callbacks []func(context.Context)
}

// NewWatcher returns a watcher of a database. It starts with [Watcher.Run].
func NewWatcher(b backend.Backend) *Watcher { return &Watcher{database: b} }

// On registers f to be called after changes and at intervals. The functions are called one after
// another: f may wait for the database, but delays the others.
func (w *Watcher) On(f func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callbacks = append(w.callbacks, f)
}

// pollInterval is the longest time between two calls if the database reports no change.
const pollInterval = 2 * time.Second

// Run watches until ctx ends.
func (w *Watcher) Run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.database.Changes():
		case <-timer.C:
		}
		w.notify(ctx)
		timer.Reset(pollInterval)
	}
}

func (w *Watcher) notify(ctx context.Context) {
	w.mu.Lock()
	callbacks := w.callbacks[:len(w.callbacks):len(w.callbacks)]
	w.mu.Unlock()
	for _, f := range callbacks {
		f(ctx)
	}
}
