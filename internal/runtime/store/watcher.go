package store

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Watcher calls registered functions when another process may have changed the database.
type Watcher struct {
	database backend.Backend

	mu        sync.Mutex
	callbacks []func(context.Context)
}

// NewWatcher returns a watcher for a database. [Watcher.Run] starts it.
func NewWatcher(b backend.Backend) *Watcher { return &Watcher{database: b} }

// Register registers f to be called after changes and periodically. The registered functions run
// one after another; f may wait for the database, but this delays the other functions.
func (w *Watcher) Register(f func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.callbacks = append(w.callbacks, f)
}

// pollInterval is the longest time between two calls of a registered function.
const pollInterval = 2 * time.Second

// Run calls the registered functions until ctx is done.
func (w *Watcher) Run(ctx context.Context) {
	for wait := time.Duration(0); ; wait = pollInterval {
		select {
		case <-ctx.Done():
			return
		case <-w.database.Changes():
		case <-time.After(wait):
		}
		w.notify(ctx)
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
