package telemetry

import (
	"context"
	"errors"
	"time"

	"github.com/petrigate/petrigate/internal/serve/store/backend"
)

// Backend returns a database whose commits are counted.
func (m *Metrics) Backend(b backend.Backend) backend.Backend { return &countedBackend{b, m} }

type countedBackend struct {
	backend.Backend
	metrics *Metrics
}

// Commit counts a commit.
func (b *countedBackend) Commit(ctx context.Context, ops []*backend.Op) error {
	begun := time.Now()
	err := b.Backend.Commit(ctx, ops)
	stale := 0
	for _, op := range ops {
		if errors.Is(op.Err, backend.ErrStale) {
			stale++
		}
	}
	b.metrics.Committed(len(ops), stale, time.Since(begun), err)
	return err
}
