package telemetry

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/petrigate/petrigate/internal/runtime/store/backend"
)

// Backend returns a backend that wraps b and counts its commits in m.
func (m *Metrics) Backend(b backend.Backend) backend.Backend { return &countedBackend{b, m} }

type countedBackend struct {
	backend.Backend
	metrics *Metrics
}

// Commit commits ops with the wrapped backend. It counts the commit and records its duration,
// including the time for flushing.
func (b *countedBackend) Commit(ctx context.Context, ops []*backend.Op) error {
	begun := time.Now()
	err := b.Backend.Commit(ctx, ops)
	stale, flush := 0, (func() error)(nil)
	for _, op := range ops {
		if errors.Is(op.Err, backend.ErrStale) {
			stale++
		}
		if op.Flush != nil {
			flush = op.Flush
		}
	}
	if flush == nil {
		b.metrics.Committed(len(ops), stale, time.Since(begun), err)
		return err
	}
	counted := sync.OnceValue(func() error {
		err := flush()
		b.metrics.Committed(len(ops), stale, time.Since(begun), err)
		return err
	})
	for _, op := range ops {
		if op.Flush != nil {
			op.Flush = counted
		}
	}
	return nil
}
