package store

import (
	"context"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// A Watcher tells several parts of this process that another one may have changed what is
// in the database.
type Watcher struct {
	database backend.Backend

	mu   sync.Mutex
	told []func(context.Context)
}

// NewWatcher returns a watcher of a database. It watches once it runs.
func NewWatcher(b backend.Backend) *Watcher { return &Watcher{database: b} }

// On has f called after changes, and every so often. It may wait for the database, and
// holds up the others meanwhile.
func (w *Watcher) On(f func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.told = append(w.told, f)
}

// leastNews is how old the news may be if the database says nothing.
const leastNews = 2 * time.Second

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
		w.tell(ctx)
		timer.Reset(leastNews)
	}
}

func (w *Watcher) tell(ctx context.Context) {
	w.mu.Lock()
	told := w.told[:len(w.told):len(w.told)]
	w.mu.Unlock()
	for _, f := range told {
		f(ctx)
	}
}
